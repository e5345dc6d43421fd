"""Formulas of office files (OMML) as a line that can be read and searched: `a^2+b^2=c^2`, `(n*x)/L`, `sum_(k=0)^n`."""

from workers.extract.xml_part import Element, attribute, child, children, name_of

_PROPERTIES_END = "Pr"
_DEEPEST = 60
_WITH_SCRIPTS = frozenset({"m:sSup", "m:sSub", "m:sSubSup", "m:f", "m:nary"})


def linear_formula(root: Element) -> str:
    """The formula below `root` on one line: `^` and `_` for what stands high and low, `/` for fractions."""
    return " ".join(_run(root, 0).split())


def _run(element: Element | None, depth: int) -> str:
    if element is None:
        return ""
    if depth > _DEEPEST:  # deeper formulas keep their signs and lose their shape
        return "".join(each.text or "" for each in element.iterdescendants() if name_of(each) in {"m:t", "w:t"})
    line = ""
    after_script = False
    for each in element:
        part = _node(each, depth + 1)
        if after_script and part[:1].isalnum():  # else the next factor would seem to stand high, too
            line += " "
        line += part
        after_script = name_of(each) in _WITH_SCRIPTS
    return line


def _node(element: Element, depth: int) -> str:
    name = name_of(element)
    if name in {"m:t", "w:t", "a:t"}:
        return element.text or ""
    if name in {"w:br", "m:brk"}:
        return " "
    if name.endswith(_PROPERTIES_END) or name in {"w:del", "w:moveFrom"}:
        return ""
    shape = _SHAPES.get(name)
    return shape(element, depth) if shape else _run(element, depth)


def _part(element: Element, name: str, depth: int) -> str:
    return _run(child(element, name), depth).strip()


def _grouped(text: str) -> str:
    """In brackets where it is more than one name or number."""
    return text if len(text) < 2 or text.isalnum() or _is_bracketed(text) else f"({text})"


def _is_bracketed(text: str) -> bool:
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[0] == "(" and index == len(text) - 1
    return False


def _scripts(element: Element, depth: int) -> str:
    low, high = _part(element, "m:sub", depth), _part(element, "m:sup", depth)
    below = f"_{_grouped(low)}" if low else ""
    above = f"^{_grouped(high)}" if high else ""
    if name_of(element) == "m:sPre":
        return f"{below}{above}{_part(element, 'm:e', depth)}"
    return f"{_part(element, 'm:e', depth)}{below}{above}"


def _fraction(element: Element, depth: int) -> str:
    top, bottom = _part(element, "m:num", depth), _part(element, "m:den", depth)
    if attribute(child(element, "m:fPr", "m:type"), "m:val") == "noBar":
        return f"({top} over {bottom})"
    return f"{_grouped(top)}/{_grouped(bottom)}"


def _radical(element: Element, depth: int) -> str:
    degree = _part(element, "m:deg", depth)
    body = _part(element, "m:e", depth)
    return f"√[{degree}]({body})" if degree else f"√({body})"


def _operator(element: Element, depth: int) -> str:
    sign = child(element, "m:naryPr", "m:chr")
    symbol = attribute(sign, "m:val") if sign is not None else "∫"
    low, high = _part(element, "m:sub", depth), _part(element, "m:sup", depth)
    limits = (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")
    return f"{symbol}{limits} {_part(element, 'm:e', depth)}"


def _delimited(element: Element, depth: int) -> str:
    properties = child(element, "m:dPr")
    signs = {
        name: attribute(child(properties, f"m:{name}"), "m:val", default)
        if child(properties, f"m:{name}") is not None
        else default
        for name, default in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    }
    inner = signs["sepChr"].join(_run(each, depth).strip() for each in children(element, "m:e"))
    return f"{signs['begChr']}{inner}{signs['endChr']}"


def _function(element: Element, depth: int) -> str:
    name, argument = _part(element, "m:fName", depth), _part(element, "m:e", depth)
    return f" {name}{argument}" if argument.startswith("(") else f" {name} {argument}"


def _lower_limit(element: Element, depth: int) -> str:
    return f"{_part(element, 'm:e', depth)}_{_grouped(_part(element, 'm:lim', depth))}"


def _upper_limit(element: Element, depth: int) -> str:
    return f"{_part(element, 'm:e', depth)}^{_grouped(_part(element, 'm:lim', depth))}"


def _matrix(element: Element, depth: int) -> str:
    rows = (", ".join(_run(each, depth).strip() for each in children(row, "m:e")) for row in children(element, "m:mr"))
    return f"[{'; '.join(rows)}]"


def _lines(element: Element, depth: int) -> str:
    return "; ".join(_run(each, depth).strip() for each in children(element, "m:e"))


_SHAPES = {
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _scripts,
    "m:f": _fraction,
    "m:rad": _radical,
    "m:nary": _operator,
    "m:d": _delimited,
    "m:func": _function,
    "m:limLow": _lower_limit,
    "m:limUpp": _upper_limit,
    "m:m": _matrix,
    "m:eqArr": _lines,
}
