from pathlib import Path

from pincite.documents import BlockKind
from workers.extract.markdown import extract_markdown, markdown_blocks
from workers.extract.options import ReaderOptions

SAMPLE = """\
# The *lease* of `Flat 4`

First paragraph
on two lines.

Setext heading
==============

Smaller
-------

- one
- two
  - nested

1. first

> A quotation.

```python
# not a heading
x = 1
```

    indented code

| a | b |
|---|---|
| 1 | 2 |

###### Deep ######
Last line"""


def shown(text: str, begin: int = 0) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, text[block.start : block.end]) for block in markdown_blocks(text, begin)]


def test_blocks_point_into_the_file_as_it_is() -> None:
    assert shown(SAMPLE) == [
        ("heading", 1, "# The *lease* of `Flat 4`"),
        ("paragraph", 0, "First paragraph\non two lines."),
        ("heading", 1, "Setext heading\n=============="),
        ("heading", 2, "Smaller\n-------"),
        ("list", 0, "- one\n- two\n  - nested"),
        ("list", 0, "1. first"),
        ("paragraph", 0, "> A quotation."),
        ("code", 0, "```python\n# not a heading\nx = 1\n```"),
        ("code", 0, "    indented code"),
        ("table", 0, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("heading", 6, "###### Deep ######"),
        ("paragraph", 0, "Last line"),
    ]


def test_heading_titles_are_without_markup() -> None:
    titles = [block.title for block in markdown_blocks(SAMPLE) if block.kind is BlockKind.HEADING]
    assert titles == ["The lease of Flat 4", "Setext heading", "Smaller", "Deep"]


def test_front_matter_is_no_heading_and_names_the_title(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(
        b'\xef\xbb\xbf---\r\ntitle: "The lease"\r\ndate: 2024\r\n---\r\n\r\n## Rent\r\n\r\nDue monthly.\r\n'
    )
    extracted = extract_markdown(path, options)
    assert extracted.title == "The lease"
    assert extracted.text.startswith('---\ntitle: "The lease"\n')
    kinds = [(block.kind.value, extracted.text[block.start : block.end]) for block in extracted.blocks]
    assert kinds == [("heading", "## Rent"), ("paragraph", "Due monthly.")]


def test_the_title_is_the_first_heading_of_the_first_level(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "a.md"
    path.write_text("## Before\n\n# Title\n\n# Second\n")
    assert extract_markdown(path, options).title == "Title"
