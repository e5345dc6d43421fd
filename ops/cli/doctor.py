"""`pincite doctor`: is everything there that Pincite needs, and what to do where it is not."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from ops.cli.border import ExitCode, describe
from ops.cli.options import DataOption, JsonOption, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.cli.checks import Finding
    from pincite.settings import Settings

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def doctor(data: DataOption = None, json: JsonOption = False) -> None:
    """Check services, workers, model, Tesseract, disk and queues; exits with 1 if anything fails."""
    from ops.cli.output import print_json, say, tell

    settings = load_settings(data)
    findings = []
    for finding in examine(settings):
        findings.append(finding)
        if not json:
            tell(f"{_MARKS[finding.level]}  {finding.name}: {finding.message}")
            if finding.next_step:
                tell(f"        {finding.next_step}")
    failed = sum(finding.level == "fail" for finding in findings)
    if json:
        print_json({"healthy": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        say(f"{failed} of {len(findings)} checks failed." if failed else f"All {len(findings)} checks passed.")
    if failed:
        raise typer.Exit(ExitCode.FAILED)


def examine(settings: "Settings") -> "Iterator[Finding]":
    """Everything, one finding after the other."""
    from ops.cli.checks import LOCAL, WITH_SERVICES, Finding
    from ops.cli.process_checks import check_children
    from ops.services.errors import NotRunningError, ServiceError
    from ops.services.installation import connect

    for check in LOCAL:
        yield from check(settings)
    try:
        found = connect(settings)
    except NotRunningError as error:
        yield Finding("services", "fail", "Pincite is not running", str(error).partition(": ")[2].capitalize())
        return
    except ServiceError as error:
        yield Finding("services", "fail", str(error))
        return
    for check in WITH_SERVICES:
        yield from check(found)
    yield from _examine_database(found)
    yield from check_children(settings)


def _examine_database(settings: "Settings") -> "Iterator[Finding]":
    from db.connect import Database
    from ops.cli.checks import Finding
    from ops.cli.document_checks import WITH_DATABASE

    database = Database(settings.database, max_size=1)
    try:
        for check in WITH_DATABASE:
            yield from check(settings, database)
    except Exception as error:
        problem = describe(error)
        if problem is None:
            raise
        yield Finding("postgres", "fail", problem.text, "Check DATABASE_URL, and logs/postgres.log.")
    finally:
        database.close()
