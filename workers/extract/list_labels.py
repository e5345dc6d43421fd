"""The marks of list items as a person sees them: `-`, `1.`, `b)`, `iv.`, `2.3`."""

import string

BULLET = "-"
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_DEEPEST_INDENT = 20


def decimal(number: int) -> str:
    """`12`"""
    return str(number)


def letters(number: int) -> str:
    """`a` to `z`, then `aa`, `bb` as word processors count."""
    if not 1 <= number <= 26 * 20:
        return str(number)
    times, index = divmod(number - 1, 26)
    return string.ascii_lowercase[index] * (times + 1)


def roman(number: int) -> str:
    """`iv`; numbers that Roman numerals do not reach stay decimal."""
    if not 1 <= number <= 4999:
        return str(number)
    parts: list[str] = []
    for value, numeral in _ROMAN:
        times, number = divmod(number, value)
        parts.append(numeral * times)
    return "".join(parts)


def item_line(label: str, text: str, level: int) -> str:
    """The line of an item, indented by two spaces for each list around it (`level` counts from 0)."""
    return f"{'  ' * min(level, _DEEPEST_INDENT)}{label} {text}"
