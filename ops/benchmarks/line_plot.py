"""A plot of lines as SVG, without a library for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 900, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 220, 40, 50
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22")
_DASHES = ("", "6 3", "2 3")
_STEPS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A named curve: points (x, y), in order of x."""

    name: str
    points: Sequence[tuple[float, float]]


def draw(title: str, lines: Sequence[Line], across: str, up: str) -> str:
    """An SVG document with all lines over axes that begin at zero."""
    far = max((x for line in lines for x, _ in line.points), default=1.0)
    high = max((y for line in lines for _, y in line.points), default=1.0) * 1.05
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + wide * x / far, _TOP + tall * (1 - y / high)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, title, "start", 16),
        _text(_LEFT + wide / 2, _HEIGHT - 12, across, "middle"),
        _text(_LEFT - 8, _TOP - 8, up, "end"),
    ]
    for step in range(_STEPS + 1):
        x, y = place(far * step / _STEPS, high * step / _STEPS)
        parts.append(f'<path d="M{_LEFT} {y:.1f}h{wide}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{high * step / _STEPS:.0f}", "end"))
        parts.append(_text(x, _TOP + tall + 18, f"{far * step / _STEPS:.0f}", "middle"))
    for index, line in enumerate(lines):
        colour, dash = _COLOURS[index % len(_COLOURS)], _DASHES[index // len(_COLOURS) % len(_DASHES)]
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}" fill="none"'
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        level = _TOP + 18 * index
        parts.append(f'<polyline points="{points}" {stroke}/>')
        parts.append(f'<path d="M{_WIDTH - _RIGHT + 20} {level}h24" {stroke}/>')
        parts.append(_text(_WIDTH - _RIGHT + 50, level + 4, line.name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str, size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
