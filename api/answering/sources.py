"""What the model may answer from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered quote; `[number]` in an answer stands for it. `name` and `section` are the document's own words."""

    number: int
    name: str
    section: tuple[str, ...]
    quote: str
