import pytest
from PIL import Image

from pincite.documents import WordBox
from workers.ocr import PageFailedError, read_upright
from workers.ocr_layout import NOTHING, Reading, read_table, turned_back

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


def inked() -> Image.Image:
    picture = Image.new("L", (100, 60), 255)
    picture.paste(0, (10, 10, 50, 40))
    return picture


def test_an_upright_page_is_read_once() -> None:
    calls: list[tuple[int, int]] = []

    def read(picture: Image.Image) -> Reading:
        calls.append(picture.size)
        return reading_of(20, 0.95)

    read_upright(inked(), read)
    assert calls == [(100, 60)]


def test_the_best_turn_wins_and_an_early_good_one_ends_the_search() -> None:
    answers = iter([reading_of(5, 0.3), reading_of(30, 0.95), reading_of(99, 0.99)])
    best = read_upright(inked(), lambda _: next(answers))
    assert len(best.words) == 30
    assert best.words[0].left == pytest.approx(0.6)  # turned back from 90 degrees


def test_a_failure_while_turning_keeps_what_was_read() -> None:
    answers = [reading_of(5, 0.3)]

    def read(_: Image.Image) -> Reading:
        if not answers:
            raise PageFailedError("time is over")
        return answers.pop()

    assert len(read_upright(inked(), read).words) == 5


def test_an_empty_page_is_not_read_at_all() -> None:
    def read(_: Image.Image) -> Reading:
        raise AssertionError("read an empty page")

    assert read_upright(Image.new("L", (100, 60), 250), read) == NOTHING
