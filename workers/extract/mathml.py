"""Formulas in MathML as a line that can be read and searched: `a^2+b^2`, `(n*x)/L`."""

from workers.extract.xml_part import Element, name_of

_DEEPEST = 60
_LEFT_OUT = frozenset({"math:annotation", "math:annotation-xml"})
# Elements with scripts, and the signs before their second and third child.
_SCRIPTS = {
    "math:msup": ("^",),
    "math:msub": ("_",),
    "math:msubsup": ("_", "^"),
    "math:munder": ("_",),
    "math:mover": ("^",),
    "math:munderover": ("_", "^"),
}


def linear_mathml(root: Element) -> str:
    """The formula below `root` on one line: `^` and `_` for what stands high and low, `/` for fractions."""
    return " ".join(_node(root, 0).split())


def _node(element: Element, depth: int) -> str:
    name = name_of(element)
    if name in _LEFT_OUT or not name:
        return ""
    if depth > _DEEPEST:  # deeper formulas keep their signs and lose their shape
        return "".join(element.itertext())
    parts = [_node(each, depth + 1).strip() for each in element]
    if name in _SCRIPTS and parts:
        marked = (f"{sign}{_grouped(part)}" for sign, part in zip(_SCRIPTS[name], parts[1:], strict=False) if part)
        return parts[0] + "".join(marked)
    if name == "math:mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
    if name in {"math:msqrt", "math:mroot"}:
        return f"√[{parts[1]}]({parts[0]})" if name == "math:mroot" and len(parts) == 2 else f"√({''.join(parts)})"
    separator = {"math:mtr": ", ", "math:mtable": "; "}.get(name, "")
    return (element.text or "").strip() + separator.join(filter(None, parts))


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"
