"""Options that several commands share, and the settings that come of them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from pincite.settings import Settings

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="PINCITE_DATA",
        metavar="DIR",
        show_default=False,
        help="The data directory of the installation (default: ~/.local/share/pincite).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, and nothing else there.")]
FolderOption = Annotated[
    str | None, typer.Option("--folder", metavar="NAME", show_default=False, help="Only this folder.")
]
FoldersOption = Annotated[
    list[str] | None,
    typer.Option("--folder", metavar="NAME", show_default=False, help="Only this folder; may be given several times."),
]
CodeOption = Annotated[
    str | None, typer.Option("--code", metavar="CODE", show_default=False, help="Only failures of this code.")
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until each of these documents is indexed or failed.")]

_LONGEST_AGE_SECONDS = 1_000_000_000  # 31 years, as the API
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class UsageProblem(Exception):
    """The command was called in a way that makes no sense; the message says how it is meant."""


def load_settings(data: Path | None, **given: Any) -> "Settings":
    """The settings of the environment, with what was given on the command line on top.

    Raises:
        pydantic.ValidationError: a value is wrong, or two contradict each other.
    """
    from pincite.settings import Settings

    changes = {name: value for name, value in {"data": data, **given}.items() if value is not None}
    return Settings(**changes)


def checked_code(code: str | None) -> str | None:
    """The failure code as it was given.

    Raises:
        UsageProblem: there is no such code.
    """
    from pincite.failures import FailureCode

    if code is not None and code not in set(FailureCode):
        raise UsageProblem(f"There is no failure code {code!r}. The codes are: {', '.join(FailureCode)}.")
    return code


def seconds_of(age: str | None, option: str) -> float | None:
    """An age such as `90s`, `30m`, `2h`, `1d` or `2w` in seconds.

    Raises:
        UsageProblem: it is none.
    """
    if age is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})([smhdw])", age.strip())
    seconds = int(match[1]) * _UNITS[match[2]] if match else None
    if seconds is None or seconds > _LONGEST_AGE_SECONDS:
        most = f"{_LONGEST_AGE_SECONDS // 86400}d"
        raise UsageProblem(f"{option} wants a number and a unit, as 90s, 30m, 2h, 1d or 2w, up to {most}, not {age!r}.")
    return float(seconds)
