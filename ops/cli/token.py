"""`pincite token`: bearer tokens of the API. The secret is shown once; only its digest is kept."""

import secrets
from typing import Annotated

import typer

from ops.cli.border import CommandFailed
from ops.cli.options import DataOption, JsonOption, UsageProblem, load_settings

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make, list and delete the API's bearer tokens. Once there is one, every call needs one.",
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name to know the token by, 1 to 100 characters.")]


@app.command()
def create(name: Name, data: DataOption = None, json: JsonOption = False) -> None:
    """Make a token and print its secret, once."""
    from api.access import digest_of
    from db.tokens import create_token
    from ops.cli.connection import connected_or_started
    from ops.cli.output import print_json, say, tell

    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise UsageProblem("A token's name has 1 to 100 printable characters.")
    secret = secrets.token_urlsafe(32)
    digest = digest_of(secret)
    with connected_or_started(load_settings(data)) as here:
        created = here.database.run(lambda connection: create_token(connection, name, digest))
    if not created:
        raise CommandFailed(f"There is a token {name!r} already. Delete it first, or choose another name.")
    if json:
        print_json({"name": name, "token": secret})
        return
    say("This is shown once. Send it as: Authorization: Bearer <token>")
    tell(secret)


@app.command("list")
def list_(data: DataOption = None, json: JsonOption = False) -> None:
    """The names of all tokens."""
    from db.tokens import list_tokens
    from ops.cli.connection import connected_or_started
    from ops.cli.output import moment, print_json, print_table, say

    with connected_or_started(load_settings(data)) as here:
        tokens = here.database.run(list_tokens)
    if json:
        print_json({"tokens": [{"name": token.name, "created_at": token.created_at} for token in tokens]})
    elif tokens:
        print_table(["name", "created"], [(token.name, moment(token.created_at)) for token in tokens])
    else:
        say("There are no tokens: the API answers on the loopback interface only.")


@app.command()
def delete(name: Name, data: DataOption = None) -> None:
    """Forget a token; calls with it are turned away from then on."""
    from db.tokens import delete_token
    from ops.cli.connection import connected_or_started
    from ops.cli.output import say

    with connected_or_started(load_settings(data)) as here:
        if not here.database.run(lambda connection: delete_token(connection, name)):
            raise CommandFailed(f"There is no token {name!r}. `pincite token list` names them.")
    say(f"Token {name!r} is deleted.")
