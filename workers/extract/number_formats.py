"""Numbers of a spreadsheet as a person reads them, by the format code of their cell (ECMA-376, part 1, 18.8.30).

Two things differ from the screen on purpose: dates are ISO dates, and thousands are not grouped, so that the same
value reads the same whatever the author's language was.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from workers.extract.serial_dates import DateFormat, date_format

Formatter = Callable[[float], str]

BUILT_IN: dict[int, str] = {
    1: "0", 2: "0.00", 3: "0", 4: "0.00", 5: "0", 6: "0", 7: "0.00", 8: "0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy-mm-dd", 15: "yyyy-mm-dd", 16: "yyyy-mm-dd", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 32: "h:mm", 33: "h:mm:ss", 37: "0;(0)", 38: "0;(0)", 39: "0.00;(0.00)",
    40: "0.00;(0.00)", 41: "0", 42: "0", 43: "0.00", 44: "0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
    48: "0.0E+0", **dict.fromkeys((*range(27, 32), *range(34, 37), *range(50, 59)), "yyyy-mm-dd"),
}  # fmt: skip

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>general)|(?P<clock>am/pm|a/p)|(?P<exponent>e[+-])|(?P<date>[ymdhs]+)|(?P<digit>[0#?])"
    r"|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_LONGEST_CODE = 500  # Excel's own limit is 255
_MOST_DECIMALS = 30


def formatter(code: str, *, from_1904: bool = False) -> Formatter:
    """How a number is shown by the format `code`; `from_1904`: days are counted from 1904, not from 1900."""
    sections = [_section(part, from_1904) for part in _split(code[:_LONGEST_CODE])][:3]
    if not sections:
        return general
    if any(section.condition for section in sections):
        return lambda value: _by_condition(sections, value)
    return lambda value: _by_sign(sections, value)


def general(value: float) -> str:
    """A number without a format: whole numbers without a point, others with up to ten digits."""
    size = abs(value)
    if size < 1e15 and value == int(value):
        return str(int(value))
    if 1e10 <= size < 1e15:
        return repr(value)
    return f"{value:.10g}".upper()


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the up to four parts of a format code. `plain`: shown as without a format."""

    before: str = ""
    after: str = ""
    whole: int = 0
    decimals: int = 0
    required: int = 0
    digits: bool = False
    plain: bool = False
    percent: int = 0
    thousands: int = 0
    exponent: bool = False
    condition: tuple[str, float] | None = None
    dates: DateFormat | None = None

    def show(self, value: float) -> str:
        if self.dates is not None:
            return self.dates.show(value) or general(value)
        return " ".join(f"{self.before}{self._number(value)}{self.after}".split())

    def _number(self, value: float) -> str:
        if self.plain:
            return general(value)
        if not self.digits:
            return ""
        if self.exponent:
            return f"{value:.{self.decimals}E}"
        try:
            number = Decimal(repr(value)).scaleb(2 * self.percent - 3 * self.thousands)
            number = number.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)
        except InvalidOperation:
            return general(value)
        whole, _, fraction = f"{number:f}".partition(".")
        while len(fraction) > self.required and fraction.endswith("0"):
            fraction = fraction[:-1]
        whole = whole.lstrip("0").rjust(self.whole, "0")
        return f"{whole}.{fraction}" if fraction else whole


def _by_sign(sections: list[_Section], value: float) -> str:
    if value < 0 and len(sections) > 1 and sections[1].dates is None:
        return sections[1].show(-value)
    section = sections[2] if value == 0 and len(sections) > 2 else sections[0]
    return _signed(section, value)


def _by_condition(sections: list[_Section], value: float) -> str:
    for section in sections:
        if section.condition is None or _holds(section.condition, value):
            return _signed(section, value)
    return general(value)


def _signed(section: _Section, value: float) -> str:
    if value >= 0 or section.dates is not None:
        return section.show(value)
    shown = section.show(-value)
    # What rounds to nothing has no sign.
    return f"-{shown}" if re.search(r"[1-9]", shown) else shown


def _holds(condition: tuple[str, float], value: float) -> bool:
    sign, limit = condition
    return {
        "<": value < limit,
        "<=": value <= limit,
        ">": value > limit,
        ">=": value >= limit,
        "=": value == limit,
        "<>": value != limit,
    }[sign]


def _split(code: str) -> list[str]:
    """The sections of a code: what stands between semicolons that are not quoted."""
    parts = [""]
    for match in _TOKEN.finditer(code):
        if match["other"] == ";":
            parts.append("")
        else:
            parts[-1] += match[0]
    return parts if code else []


def _section(code: str, from_1904: bool) -> _Section:
    tokens = list(_TOKEN.finditer(code))
    condition = next((_condition(match["bracket"]) for match in tokens if match["bracket"]), None)
    dates = date_format([(match["date"], match["bracket"]) for match in tokens], from_1904)
    if dates is not None:
        return _Section(dates=dates, condition=condition)
    placed = [index for index, match in enumerate(tokens) if match["digit"]]
    plain = any(match["general"] or match["other"] == "@" for match in tokens)
    if plain or not placed:
        where = [index for index, match in enumerate(tokens) if match["general"] or match["other"] == "@"]
        at = where[0] if where else len(tokens)
        return _Section(_literal(tokens[:at]), _literal(tokens[at + 1 :]), plain=plain, condition=condition)
    core = tokens[placed[0] : placed[-1] + 1]
    if any(not match["digit"] and not match["exponent"] and match["other"] not in {",", "."} for match in core):
        # Fractions and numbers with marks between their digits.
        return _Section(plain=True, condition=condition)
    before, after = tokens[: placed[0]], tokens[placed[-1] + 1 :]
    if before and before[-1]["other"] == ".":
        core, before = [before[-1], *core], before[:-1]
    thousands = 0
    while after and after[0]["other"] in {",", "."}:
        thousands += after[0]["other"] == ","
        after = after[1:]
    return _placeholders(core, _Section(
        _literal(before), _literal(after), digits=True, thousands=thousands, condition=condition,
        percent=sum(match["other"] == "%" for match in tokens),
    ))  # fmt: skip


def _placeholders(core: list[re.Match[str]], section: _Section) -> _Section:
    shape = "".join("e" if match["exponent"] else match[0] for match in core if match[0] != ",")
    mantissa, exponent, _ = shape.partition("e")
    whole, _, fraction = mantissa.partition(".")
    return replace(
        section,
        whole=whole.count("0"),
        decimals=min(len(fraction), _MOST_DECIMALS),
        required=fraction.count("0"),
        exponent=bool(exponent),
    )


def _literal(tokens: list[re.Match[str]]) -> str:
    """What a person sees of these tokens beside the digits: quoted and bare marks, currency signs, spaces."""
    return "".join(map(_shown, tokens))


def _shown(match: re.Match[str]) -> str:
    if match["bracket"] is not None:
        return match["bracket"][1:].partition("-")[0] if match["bracket"].startswith("$") else ""
    if match["space"]:
        return " "
    return match["quoted"] or match["escaped"] or match["other"] or ""


def _condition(bracket: str) -> tuple[str, float] | None:
    match = _CONDITION.fullmatch(bracket.strip())
    return (match[1], float(match[2])) if match else None
