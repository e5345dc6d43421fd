"""Dates and times of spreadsheets: a number of days, shown as ISO 8601 writes them with a space for the T."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_DAY = 86_400  # seconds
_LATEST = 2_958_466  # days from 1900 to the end of the year 9999


@dataclass(frozen=True, slots=True)
class DateFormat:
    """Which parts of a moment a format shows: letters out of `ymdhs`. `elapsed` is the unit that counts on: h, m, s."""

    letters: frozenset[str]
    elapsed: str = ""
    from_1904: bool = False

    def show(self, days: float) -> str:
        """The moment as text; empty where `days` is none."""
        if not 0 <= days < _LATEST:
            return ""
        if self.elapsed:
            return self._elapsed(round(days * _DAY))
        date, time = self._date_pattern(), self._time_pattern()
        return f"{_moment(days, self.from_1904):{' '.join(filter(None, (date, time)))}}"

    def _date_pattern(self) -> str:
        if "d" in self.letters or ("m" in self.letters and not self.letters & {"y", "h", "s"}):
            return "%Y-%m-%d"
        if "y" not in self.letters:
            return ""
        return "%Y-%m" if "m" in self.letters else "%Y"

    def _time_pattern(self) -> str:
        if "s" in self.letters:
            return "%H:%M:%S"
        return "%H:%M" if "h" in self.letters else ""

    def _elapsed(self, seconds: int) -> str:
        if self.elapsed == "s":
            return str(seconds)
        minutes, rest = divmod(seconds, 60)
        if self.elapsed == "m":
            return f"{minutes}:{rest:02}" if "s" in self.letters else str(minutes)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if "s" in self.letters else f"{hours}:{minutes:02}"


def date_format(tokens: Iterable[tuple[str | None, str | None]], from_1904: bool) -> DateFormat | None:
    """The date format that a format code is, None where it is one of numbers.

    `tokens` are the code's runs of date letters and its brackets, whichever each token has.
    """
    letters: set[str] = set()
    elapsed = ""
    for run, bracket in tokens:
        letters.update((run or "").lower())
        if bracket and _ELAPSED.fullmatch(bracket):
            elapsed = elapsed or bracket[0].lower()
    if not letters and not elapsed:
        return None
    return DateFormat(frozenset(letters), elapsed, from_1904)


def _moment(days: float, from_1904: bool) -> datetime:
    # The calendar from 1900 has a 29th of February 1900, which never was.
    since_1900 = datetime(1899, 12, 30) if days >= 60 else datetime(1899, 12, 31)
    epoch = datetime(1904, 1, 1) if from_1904 else since_1900
    return epoch + timedelta(seconds=round(days * _DAY))


def iso_moment(text: str) -> str:
    """An ISO 8601 date or moment as it is shown: a space for the T, no zone mark, no time where it is midnight."""
    date, _, time = text.strip().removesuffix("Z").partition("T")
    time = time.partition(".")[0]
    return date if time in {"", "00:00", "00:00:00"} else f"{date} {time}"
