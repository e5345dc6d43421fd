"""Plots as SVG in the colours of the page that they stand on (`plot.css` classes), without a library for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor

_WIDTH, _HEIGHT = 760, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 190, 16, 52
SERIES = 8  # so many colours, `c0` to `c7`
_ROW = 34

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """A value with its interval, 0 to 1."""

    value: float
    low: float
    high: float


def spreads(title: str, across: str, up: str, series: Mapping[str, Mapping[str, Spread]]) -> str:
    """Values with whiskers: one group for each category, one colour for each series. The vertical axis is 0 to 1."""
    categories = list(dict.fromkeys(category for values in series.values() for category in values))
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = _frame(title, across, up)
    each = wide / max(1, len(categories))
    for place, category in enumerate(categories):
        middle = _LEFT + each * (place + 0.5)
        parts.append(_text(middle, _TOP + tall + 18, _short(category, 14), "middle"))
        for index, (name, values) in enumerate(series.items()):
            if category not in values:
                continue
            spread = values[category]
            x = middle + (index - (len(series) - 1) / 2) * min(18, each * 0.8 / max(1, len(series)))
            top, bottom = (_TOP + tall * (1 - y) for y in (spread.high, spread.low))
            told = f"{name}, {category}: {spread.value:.3f} ({spread.low:.3f} to {spread.high:.3f})"
            parts.append(
                f'<g class="c{index % SERIES}"><title>{escape(told)}</title>'
                f'<path class="whisker" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>'
                f'<circle cx="{x:.1f}" cy="{_TOP + tall * (1 - spread.value):.1f}" r="5"/></g>'
            )
    return "\n".join([*parts, *_legend(list(series)), "</svg>"])


def curves(title: str, across: str, lines: Mapping[str, Sequence[Point]], mark: float) -> str:
    """Shares (0 to 1) over a threshold, with a rule at the one in force."""
    xs = [x for points in lines.values() for x, _ in points]
    low, high = min(xs, default=0.0), max(xs, default=1.0)
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = _frame(title, across, "share of questions")

    def at(x: float) -> float:
        return _LEFT + wide * (x - low) / ((high - low) or 1)

    parts += [_text(at(x), _TOP + tall + 18, f"{x:.1f}", "middle") for x in _ticks(low, high)]
    parts.append(f'<path class="mark" d="M{at(mark):.1f} {_TOP}v{tall}"/>')
    parts.append(_text(at(mark) + 4, _TOP + 12, f"in force: {mark:g}", "start"))
    for index, points in enumerate(lines.values()):
        path = " ".join(f"{at(x):.1f},{_TOP + tall * (1 - y):.1f}" for x, y in points)
        parts.append(f'<g class="c{index % SERIES}"><polyline points="{path}"/></g>')
    return "\n".join([*parts, *_legend(list(lines)), "</svg>"])


def strips(title: str, across: str, rows: Mapping[str, Sequence[float]], mark: float) -> str:
    """One row of dots for each group of values, with a rule at the threshold in force."""
    values = [value for row in rows.values() for value in row] + [mark]
    low, high = min(values), max(values)
    left, wide, tall = 150, _WIDTH - 150 - 30, _ROW * max(1, len(rows))
    height = _TOP + tall + _BOTTOM

    def at(x: float) -> float:
        return left + wide * (x - low) / ((high - low) or 1)

    parts = [_open(title, height)]
    for index, (name, row) in enumerate(rows.items()):
        level = _TOP + _ROW * (index + 0.5)
        parts.append(_text(left - 12, level + 4, f"{_short(name, 20)} ({len(row)})", "end"))
        parts.append(f'<path class="grid" d="M{left} {level:.1f}h{wide}"/>')
        dots = "".join(f'<circle class="dot" cx="{at(value):.1f}" cy="{level:.1f}" r="5"/>' for value in row)
        parts.append(f'<g class="c{index % SERIES}">{dots}</g>')
    parts.append(f'<path class="mark" d="M{at(mark):.1f} {_TOP}v{tall}"/>')
    parts += [_text(at(x), _TOP + tall + 18, f"{x:.1f}", "middle") for x in _ticks(low, high)]
    parts.append(_text(left + wide / 2, height - 10, across, "middle"))
    return "\n".join([*parts, "</svg>"])


def _frame(title: str, across: str, up: str) -> list[str]:
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = [_open(title, _HEIGHT), _text(_LEFT + wide / 2, _HEIGHT - 10, across, "middle")]
    turned = f'transform="rotate(-90 16 {_TOP + tall / 2:.0f})"'
    parts.append(_text(16, _TOP + tall / 2, up, "middle", turned))
    for step in range(6):
        y = _TOP + tall * (1 - step / 5)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}h{wide}"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{step / 5:.1f}", "end"))
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for index, name in enumerate(names):
        level, x = _TOP + 10 + 20 * index, _WIDTH - _RIGHT + 18
        parts.append(f'<g class="c{index % SERIES}"><circle cx="{x}" cy="{level}" r="5"/></g>')
        parts.append(_text(x + 12, level + 4, _short(name, 22), "start"))
    return parts


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _ticks(low: float, high: float) -> list[float]:
    """Every tenth between the two."""
    return [tenth / 10 for tenth in range(ceil(low * 10 - 1e-9), floor(high * 10 + 1e-9) + 1)]


def _open(title: str, height: float) -> str:
    name = escape(title)
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{name}"><title>{name}</title>'


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
