from collections.abc import Sequence

import pytest
from PIL import Image

from pincite.documents import BlockKind, WordBox
from workers.ocr import PageFailedError, read_upright
from workers.ocr_layout import NOTHING, Reading, read_table, turned_back
from workers.ocr_sight import Sight, read_sight

HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def row(place: str, box: str, confidence: str, text: str, level: int = 5) -> str:
    return "\t".join([str(level), "1", *place.split(), *box.split(), confidence, text])


TABLE = "\n".join(
    [
        HEADER,
        row("0 0 0 0", "0 0 1000 500", "-1", "", level=1),
        row("1 1 1 1", "100 50 200 25", "90.5", '"Example'),
        row("1 1 1 2", "350 50 100 25", "80", "a\tb"),
        row("1 1 2 1", "100 100 100 25", "70", "next"),
        row("1 1 2 2", "300 100 100 25", "95", "  "),
        row("1 2 1 1", "100 200 100 25", "60", "paragraph"),
        row("2 1 1 1", "100 300 990 250", "-1", "noise"),
        row("2 1 1 2", "100 300 990 250", "50", "ﬁ\u00adn"),
        "5\t1\t9",
    ]
)


def test_text_and_offsets() -> None:
    reading = read_table(TABLE, 1000, 500)
    assert reading.text == '"Example a b\nnext\n\nparagraph\n\nfin'
    assert [reading.text[word.start : word.end] for word in reading.words] == [
        '"Example',
        "a b",
        "next",
        "paragraph",
        "fin",
    ]


def test_boxes_are_shares_of_the_page() -> None:
    words = read_table(TABLE, 1000, 500).words
    assert (words[0].left, words[0].top, words[0].right, words[0].bottom) == (0.1, 0.1, 0.3, 0.15)
    assert (words[-1].right, words[-1].bottom) == (1.0, 1.0)


def test_confidence_is_weighted_by_characters() -> None:
    reading = read_table(TABLE, 1000, 500)
    weights = [(8, 0.905), (3, 0.8), (4, 0.7), (9, 0.6), (3, 0.5)]
    assert reading.confidence == pytest.approx(sum(n * c for n, c in weights) / sum(n for n, _ in weights))


@pytest.mark.parametrize("table", [HEADER, "", HEADER + "\n" + row("1 1 1 1", "0 0 9 9", "95", " ")])
def test_no_words_have_no_confidence(table: str) -> None:
    assert read_table(table, 100, 100) == NOTHING


@pytest.mark.parametrize(
    ("degrees", "turn"),
    [(90, Image.Transpose.ROTATE_90), (180, Image.Transpose.ROTATE_180), (270, Image.Transpose.ROTATE_270)],
)
def test_boxes_are_turned_back_to_where_the_ink_is(degrees: int, turn: Image.Transpose) -> None:
    picture = Image.new("L", (200, 100), 255)
    picture.paste(0, (20, 10, 60, 30))
    turned = picture.transpose(turn)
    left, top, right, bottom = turned.point(lambda value: 255 - value).getbbox() or (0, 0, 0, 0)
    box = WordBox(0, 1, left / turned.width, top / turned.height, right / turned.width, bottom / turned.height, 0.9)
    [back] = turned_back(Reading("x", (box,), 0.9), degrees).words
    assert (back.left, back.top, back.right, back.bottom) == pytest.approx((0.1, 0.1, 0.3, 0.3))


def reading_of(words: int, confidence: float) -> Reading:
    boxes = tuple(WordBox(index, index + 1, 0.1, 0.2, 0.3, 0.4, confidence) for index in range(words))
    return Reading("x" * words, boxes, confidence)


def unseen(_: Image.Image) -> Sight | None:
    return None


def inked() -> Image.Image:
    picture = Image.new("L", (100, 60), 255)
    picture.paste(0, (10, 10, 50, 40))
    return picture


def test_an_upright_page_is_read_once() -> None:
    calls: list[tuple[int, int]] = []

    def read(picture: Image.Image) -> Reading:
        calls.append(picture.size)
        return reading_of(20, 0.95)

    read_upright(inked(), read, unseen)
    assert calls == [(100, 60)]


def test_the_best_turn_wins_and_an_early_good_one_ends_the_search() -> None:
    answers = iter([reading_of(5, 0.3), reading_of(30, 0.95), reading_of(99, 0.99)])
    best, _ = read_upright(inked(), lambda _: next(answers), unseen)
    assert len(best.words) == 30
    assert best.words[0].left == pytest.approx(0.6)  # turned back from 90 degrees


def test_a_failure_while_turning_keeps_what_was_read() -> None:
    answers = [reading_of(5, 0.3)]

    def read(_: Image.Image) -> Reading:
        if not answers:
            raise PageFailedError("time is over")
        return answers.pop()

    assert len(read_upright(inked(), read, unseen)[0].words) == 5


def test_an_empty_page_is_not_read_at_all() -> None:
    def read(_: Image.Image) -> Reading:
        raise AssertionError("read an empty page")

    assert read_upright(Image.new("L", (100, 60), 250), read, unseen) == (NOTHING, None)


@pytest.mark.parametrize(
    ("sight", "readings"),
    [
        (Sight(180, 9.0, "Latin", 3.0), 2),  # sure: that direction, and no other
        (Sight(0, 9.0, "Latin", 3.0), 1),
        (Sight(180, 1.0, "Latin", 3.0), 4),
        (None, 4),
    ],
)
def test_what_was_seen_saves_readings(sight: Sight | None, readings: int) -> None:
    calls: list[Image.Image] = []

    def read(picture: Image.Image) -> Reading:
        calls.append(picture)
        return reading_of(9, 0.3)

    assert read_upright(inked(), read, lambda _: sight)[1] is sight
    assert len(calls) == readings


SAID = """Page number: 0
Orientation in degrees: 90
Rotate: 270
Orientation confidence: 9.30
Script: Hebrew
Script confidence: 41.11
"""


@pytest.mark.parametrize(
    ("languages", "script"),
    [("eng+deu", "Hebrew"), ("eng+heb", None), ("script/Hebrew", None), ("rus", "Hebrew")],
)
def test_a_script_that_no_language_has_is_foreign(languages: str, script: str | None) -> None:
    sight = read_sight(SAID)
    assert sight is not None
    assert (sight.degrees, sight.is_sure_of_direction) == (90, True)
    assert sight.foreign_script(languages) == script


def test_what_is_not_sure_is_not_told() -> None:
    doubtful = read_sight(SAID.replace("41.11", "0.50"))
    assert doubtful is not None
    assert not doubtful.is_sure_of_script
    assert read_sight("Too few characters. Skipping this page") is None
    latin = read_sight(SAID.replace("Hebrew", "Latin"))
    assert latin is not None
    assert latin.foreign_script("rus") is None


def test_paragraphs_are_blocks() -> None:
    reading = read_table(TABLE, 1000, 500)
    assert [reading.text[block.start : block.end] for block in reading.blocks] == [
        '"Example a b\nnext',
        "paragraph",
        "fin",
    ]
    assert {block.kind for block in reading.blocks} == {BlockKind.PARAGRAPH}


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("weath-", "ered", "weathered\nfor"),
        ("state-of-", "the-art", "state-of-the-art\nfor"),
        ("Schwarz-", "Weiß", "Schwarz-Weiß\nfor"),
        ("COVID-", "19", "COVID-19\nfor"),
        ("either", "way", "either\nway for"),
        ("-", "item", "-\nitem for"),
        ("(see-", "“quoted", "(see-\n“quoted for"),
    ],
)
def test_words_that_a_line_end_breaks(first: str, second: str, text: str) -> None:
    rows = [("1 1 1 1", first), ("1 1 2 1", second), ("1 1 2 2", "for")]
    table = "\n".join([HEADER, *(row(place, "10 10 50 20", "90", word) for place, word in rows)])
    reading = read_table(table, 1000, 500)
    assert reading.text == text
    assert len(reading.words) == 3
    halves = "".join(reading.text[word.start : word.end] for word in reading.words[:2])
    assert halves == text.removesuffix("for").strip().replace("\n", "")


def test_a_word_runs_on_at_the_head_of_the_next_column_only() -> None:
    foot, head, below = "10 450 50 20", "510 20 50 20", "10 480 50 20"
    for box, text in ((head, "function"), (below, "func-\n\ntion")):
        table = "\n".join([HEADER, row("1 1 9 1", foot, "90", "func-"), row("2 1 1 1", box, "90", "tion")])
        reading = read_table(table, 1000, 500)
        assert reading.text == text
        assert len(reading.blocks) == text.count("\n\n") + 1


def listed(signs: Sequence[str], gap: int = 20, left: int = 100) -> str:
    rows = [HEADER]
    for line, sign in enumerate(signs, start=1):
        rows.append(row(f"1 1 {line} 1", f"{left} {line * 40} 10 20", "60", sign))
        rows.append(row(f"1 1 {line} 2", f"{left + 10 + gap} {line * 40} 80 20", "95", "word"))
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("table", "bullets"),
    [
        (listed(["e", "¢", "©"]), 3),
        (listed(["e", "¢"]), 0),  # too few to be sure
        (listed(["e", "e", "e"]), 0),  # may be words
        (listed(["e", "¢", "©"], gap=4), 0),  # a space, as in prose
        (listed(["a", "¢", "x"]), 0),
    ],
)
def test_bullets_are_told_from_letters(table: str, bullets: int) -> None:
    reading = read_table(table, 1000, 500)
    assert reading.text.count("•") == bullets
    assert [reading.text[word.start : word.end] for word in reading.words].count("•") == bullets
    assert (reading.blocks[0].kind is BlockKind.LIST) == (bullets > 0)
