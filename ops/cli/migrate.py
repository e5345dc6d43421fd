"""`pincite migrate`: bring the database to the schema of this version."""

from ops.cli.options import DataOption, JsonOption, load_settings


def migrate(data: DataOption = None, json: JsonOption = False) -> None:
    """Bring the database to the schema of this version. `pincite up` does it by itself."""
    from db.migrate import migrate as apply
    from ops.cli.output import many, print_json, say, tell
    from ops.services.installation import connect, private_services, running

    settings = load_settings(data)
    if settings.database_url is None and running(settings) is None:
        say("Nothing runs on this data directory; the database is started for the migration.")
        with private_services(settings) as started:
            applied = apply(started.database)
    else:
        url = settings.database if settings.database_url is not None else connect(settings).database
        applied = apply(url)
    if json:
        print_json({"applied": applied})
        return
    for name in applied:
        tell(name)
    say(f"{many(len(applied), 'migration')} applied." if applied else "The database is up to date.")
