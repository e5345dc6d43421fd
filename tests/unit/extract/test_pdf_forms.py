import contextlib
import random
import re
from pathlib import Path

import pytest

from pincite.documents import BlockKind, Extracted, TextSource, WordBox
from pincite.embedding import token_counter
from pincite.failures import DocumentFailure
from pincite.locators import PageLocator, locate, resolve
from pincite.page_picture import shown_page
from pincite.settings import Settings
from tests.form_pdf import HEIGHT, WIDTH, FormPdf
from workers.chunk import chunk
from workers.extract import assemble, extract, media_type
from workers.extract.options import ReaderOptions


def read(tmp_path: Path, options: ReaderOptions, form: FormPdf | bytes) -> Extracted:
    path = tmp_path / "original"
    path.write_bytes(form if isinstance(form, bytes) else form.written())
    return extract(path, "form.pdf", options)


def text_of(tmp_path: Path, options: ReaderOptions, form: FormPdf) -> str:
    return read(tmp_path, options, form).pages[0].text


def boxes_of(extracted: Extracted, words: str) -> list[WordBox]:
    """The boxes of the words, found at the places that they say they have in the text."""
    [page] = extracted.pages
    place = re.search(r"\s+".join(map(re.escape, words.split())), page.text)
    assert place
    found = [box for box in page.words if place.start() <= box.start and box.end <= place.end()]
    assert [page.text[box.start : box.end] for box in found] == words.split()
    return found


def assert_inside(boxes: list[WordBox], rectangle: tuple[float, float, float, float]) -> None:
    left, bottom, right, top = rectangle
    for box in boxes:
        assert left - 0.01 <= box.left * WIDTH < box.right * WIDTH <= right + 0.01
        assert HEIGHT - top - 0.01 <= box.top * HEIGHT < box.bottom * HEIGHT <= HEIGHT - bottom + 0.01


LABELS = ((60, 700, "Name:"), (60, 670, "Tenant since"), (400, 670, "at the latest."), (60, 640, "Signed in Leipzig."))


def test_a_value_stands_beside_its_label(tmp_path: Path, options: ReaderOptions) -> None:
    name, since = (110, 695, 300, 715), (140, 666, 390, 682)
    form = FormPdf(LABELS).widget(since, "Tx", "/V(1 May 2019)").widget(name, "Tx", "/V(Anna Keller)")
    extracted = read(tmp_path, options, form)
    words = " ".join(extracted.pages[0].text.split())
    assert words == "Name: Anna Keller Tenant since 1 May 2019 at the latest. Signed in Leipzig."
    assert extracted.pages[0].text.startswith("Name: Anna Keller\n")
    assert_inside(boxes_of(extracted, "Anna Keller"), name)
    assert_inside(boxes_of(extracted, "1 May 2019"), since)
    assert extracted.pages[0].source is TextSource.TEXT


def test_the_locator_of_a_value_leads_back_to_it(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", "/V(Anna Keller)").box((320, 699, 332, 711), True)
    text = assemble(read(tmp_path, options, form))
    [piece] = chunk(text, "form.pdf", token_counter(Settings.model_validate({})))
    locator = locate(text, piece.start, piece.end, piece.section)
    assert isinstance(locator, PageLocator)
    assert locator.page == 1
    assert resolve(locator, text) == piece.content == text.text
    assert "Name: Anna Keller ☒" in piece.content


def test_the_boxes_of_a_value_cover_what_is_drawn(tmp_path: Path, options: ReaderOptions) -> None:
    font = "/NeedAppearances true/DR<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    form = FormPdf(LABELS, form=font)
    form.widget((60, 560, 300, 620), "Tx", "/Ff 4096/DA(/F1 10 Tf 0 g)/V(No heating since Monday\rNobody came)")
    form.widget((110, 695, 300, 715), "Tx", "/DA(/F1 0 Tf 0 g)/V(Anna Keller)")
    extracted = read(tmp_path, options, form)
    picture = shown_page(tmp_path / "original", media_type.PDF, 1, 72, 5_000).convert("L")
    for words in ("No heating since Monday", "Nobody came", "Anna Keller"):
        boxes = boxes_of(extracted, words)
        for box in boxes:
            edges = (box.left * WIDTH, box.top * HEIGHT, box.right * WIDTH, box.bottom * HEIGHT)
            darkest, _ = picture.crop(tuple(map(round, edges))).getextrema()
            assert darkest < 128, words


def test_a_value_without_appearance_or_of_its_parent_is_read(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS, form="/NeedAppearances true", parents=["<</FT/Tx/T(whole)/V(Anna)/Kids[6 0 R]>>"])
    form.annotations.append("<</Type/Annot/Subtype/Widget/Parent 7 0 R/Rect[110 695 300 715]>>")
    assert text_of(tmp_path, options, form).startswith("Name: Anna\n")


def test_text_of_any_script(tmp_path: Path, options: ReaderOptions) -> None:
    value = "Zoë 山田 𝒳".encode("utf-16").hex()
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", f"/V<FEFF{value[4:]}>")
    swapped = "".join(value[at + 2 : at + 4] + value[at : at + 2] for at in range(4, len(value), 4))
    form.annotations[0] = form.annotations[0].replace(value[4:], swapped)
    assert "Name: Zoë 山田 𝒳\n" in text_of(tmp_path, options, form)


def test_writing_from_right_to_left_runs_from_the_right(tmp_path: Path, options: ReaderOptions) -> None:
    value = "רחוב הרצל".encode("utf-16-be").hex()
    place = (110, 695, 300, 715)
    extracted = read(tmp_path, options, FormPdf(LABELS).widget(place, "Tx", f"/V<FEFF{value}>"))
    first, second = boxes_of(extracted, "רחוב הרצל")
    assert first.left > second.right
    assert_inside([first, second], place)


def test_several_lines(tmp_path: Path, options: ReaderOptions) -> None:
    place = (60, 560, 300, 620)
    words = "The heating in the bedroom has not worked since Monday and nobody came"
    form = FormPdf(LABELS).widget(place, "Tx", f"/Ff 4096/DA(/F1 10 Tf)/V({words}\\rSecond line)")
    extracted = read(tmp_path, options, form)
    lines = extracted.pages[0].text.split("\n")
    assert lines[-1] == "Second line"
    assert " ".join(extracted.pages[0].text.split()).endswith(f"Signed in Leipzig. {words} Second line")
    assert_inside(boxes_of(extracted, "Second line"), place)
    tops = [box.top for box in extracted.pages[0].words if box.start >= extracted.pages[0].text.index("The heating")]
    assert tops == sorted(tops)
    assert len(set(tops)) == 3


@pytest.mark.parametrize("flags", [0, 4096])
def test_a_value_far_longer_than_its_field_stays_in_it(tmp_path: Path, options: ReaderOptions, flags: int) -> None:
    place = (110, 695, 200, 715)
    extracted = read(tmp_path, options, FormPdf(LABELS).widget(place, "Tx", f"/Ff {flags}/V({'word ' * 300})"))
    assert extracted.pages[0].text.count("word") == 300
    assert_inside(boxes_of(extracted, " ".join(["word"] * 300)), place)


def test_a_choice_is_what_is_shown(tmp_path: Path, options: ReaderOptions) -> None:
    one = "/Ff 131072/Opt[[(de)(Germany)][(at)(Austria)]]/V(at)"
    some = "/Ff 2097152/Opt[(Cellar)(Garage)(Garden)]/V[(Cellar)(Garden)]"
    typed = "/Ff 393216/Opt[(Red)(Blue)]/V(Ochre)"
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Ch", one)
    form.widget((60, 560, 200, 620), "Ch", some).widget((60, 520, 200, 540), "Ch", typed)
    assert text_of(tmp_path, options, form).split()[:2] == ["Name:", "Austria"]
    assert text_of(tmp_path, options, form).split()[-3:] == ["Cellar", "Garden", "Ochre"]


def test_boxes_to_tick(tmp_path: Path, options: ReaderOptions) -> None:
    drawn = [(80, 700, "Married"), (180, 700, "Single"), (60, 670, "Children:")]
    form = FormPdf(drawn).box((64, 699, 76, 711), True).box((164, 699, 176, 711), False)
    form.box((120, 668, 132, 680), True, "/Ff 32768")
    extracted = read(tmp_path, options, form)
    assert extracted.pages[0].text == "☒ Married ☐ Single\nChildren: ☒"
    assert_inside(boxes_of(extracted, "☒ Married")[:1], (64, 699, 76, 711))


def test_an_empty_form_is_read_as_it_is_printed(tmp_path: Path, options: ReaderOptions) -> None:
    empty = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", "/V()").box((320, 699, 332, 711), False)
    printed = text_of(tmp_path, options, FormPdf(LABELS))
    assert text_of(tmp_path, options, empty) == printed


@pytest.mark.parametrize("flags", [2, 32, 34])
def test_what_is_hidden_stays_out(tmp_path: Path, options: ReaderOptions, flags: int) -> None:
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", f"/F {flags}/V(Secret)")
    form.free_text((60, 500, 300, 520), "Hidden note", f"/F {flags}").box((320, 699, 332, 711), True, f"/F {flags}")
    assert text_of(tmp_path, options, form) == text_of(tmp_path, options, FormPdf(LABELS))


def test_passwords_buttons_notes_and_what_lies_off_the_page_stay_out(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", "/Ff 8192/V(hunter2)")
    form.widget((60, 500, 120, 520), "Btn", "/Ff 65536/MK<</CA(Send)>>")
    form.widget((-300, 500, -200, 520), "Tx", "/V(Far away)").widget((60, 400, 60, 400), "Tx", "/V(No size)")
    form.annotations.append("<</Type/Annot/Subtype/Text/Rect[60 300 80 320]/Contents(A note that pops up)>>")
    assert text_of(tmp_path, options, form) == text_of(tmp_path, options, FormPdf(LABELS))


def test_a_text_box_without_a_form(tmp_path: Path, options: ReaderOptions) -> None:
    place = (60, 560, 400, 600)
    extracted = read(tmp_path, options, FormPdf(LABELS).free_text(place, "Received on 3 June"))
    assert extracted.pages[0].text.endswith("Signed in Leipzig.\n\nReceived on 3 June")
    assert_inside(boxes_of(extracted, "Received on 3 June"), place)


def test_a_page_of_fields_alone(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf().widget((60, 700, 300, 720), "Tx", "/V(Anna Keller)").free_text((60, 600, 300, 620), "Approved")
    extracted = read(tmp_path, options, form)
    assert extracted.pages[0].text.split() == ["Anna", "Keller", "Approved"]
    assert not extracted.pages[0].awaits_ocr
    assert_inside(boxes_of(extracted, "Anna Keller"), (60, 700, 300, 720))


def test_a_page_that_awaits_ocr_keeps_its_values_to_fall_back_on(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(rules="60 600 m 360 640 l S\n").widget((60, 700, 300, 720), "Tx", "/V(Anna Keller)")
    [page] = read(tmp_path, options, form).pages
    assert (page.awaits_ocr, page.text, page.source) == (True, "Anna Keller", TextSource.TEXT)


def test_what_the_page_says_already_is_not_said_twice(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf([*LABELS, (112, 700, "Anna Keller")]).widget((110, 695, 300, 715), "Tx", "/V(Anna Keller)")
    assert text_of(tmp_path, options, form).count("Keller") == 1


def test_large_type_in_a_field_is_no_heading(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS).widget((60, 540, 400, 600), "Tx", "/DA(/F1 30 Tf)/V(Anna Keller)")
    [page] = read(tmp_path, options, form).pages
    assert "Anna Keller" in page.text
    assert not [block for block in page.blocks if block.kind is BlockKind.HEADING]


def test_fields_in_a_ruled_table_are_its_cells(tmp_path: Path, options: ReaderOptions) -> None:
    drawn = [(64, 704, "Room"), (214, 704, "Area"), (64, 674, "Kitchen"), (64, 644, "Bedroom")]
    rules = "".join(f"60 {y} m 360 {y} l S\n" for y in (630, 660, 690, 720))
    rules += "".join(f"{x} 630 m {x} 720 l S\n" for x in (60, 210, 360))
    form = FormPdf(drawn, rules=rules)
    form.widget((212, 632, 358, 658), "Tx", "/V(14 m2)").widget((212, 662, 358, 688), "Tx", "/V(9 m2)")
    expected = "| Room | Area |\n| Kitchen | 9 m2 |\n| Bedroom | 14 m2 |"
    assert text_of(tmp_path, options, form) == expected


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_turned_page(tmp_path: Path, options: ReaderOptions, turned: int) -> None:
    form = FormPdf(page=f"/Rotate {turned}").widget((110, 650, 150, 720), "Tx", "/V(Anna)")
    extracted = read(tmp_path, options, form)
    [box] = boxes_of(extracted, "Anna")
    across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    left, right = {90: (650 / 800, 720 / 800), 180: (450 / 600, 490 / 600), 270: (80 / 800, 150 / 800)}[turned]
    top, bottom = {90: (110 / 600, 150 / 600), 180: (650 / 800, 720 / 800), 270: (450 / 600, 490 / 600)}[turned]
    assert left < across < right
    assert top < down < bottom


def test_a_form_in_xfa_is_told_of(tmp_path: Path, options: ReaderOptions) -> None:
    waiting = FormPdf([(60, 700, "Please wait...")], form="/XFA(data)", catalog="/NeedsRendering true")
    [warning] = read(tmp_path, options, waiting).warnings
    assert (warning.code, warning.page) == ("form_not_read", 1)
    assert "flat PDF" in warning.message
    for form in (
        FormPdf([(60, 700, "Please wait...")]),
        FormPdf(LABELS, form="/XFA(data)").widget((110, 695, 300, 715), "Tx", "/V(Anna)"),
    ):
        assert not read(tmp_path, options, form).warnings


def test_a_page_of_very_many_annotations_is_bounded_and_says_so(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS)
    form.annotations = [
        f"<</Type/Annot/Subtype/FreeText/Rect[{at % 500} 100 {at % 500 + 40} 120]/Contents(x{at})>>"
        for at in range(100_000)
    ]
    extracted = read(tmp_path, options, form)
    assert [(warning.code, warning.page) for warning in extracted.warnings] == [("form_not_read", 1)]
    words = extracted.pages[0].text.split()
    assert {"x0", "x1999"} <= set(words)
    assert "x2000" not in words


def test_a_value_beyond_all_measure_is_left_out_and_told_of(tmp_path: Path, options: ReaderOptions) -> None:
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", f"/V({'a' * 600_000})")
    extracted = read(tmp_path, options, form)
    assert [warning.code for warning in extracted.warnings] == ["form_not_read"]
    assert extracted.pages[0].text == text_of(tmp_path, options, FormPdf(LABELS))


DAMAGED = [
    "null",
    "12",
    "[]",
    "<<>>",
    "<</Subtype/Widget>>",
    "<</Subtype/Widget/FT/Tx/V(x)>>",
    "<</Subtype/Widget/FT/Tx/T(a)/V(x)/Rect[1 2]>>",
    "<</Subtype/Widget/FT/Tx/T(a)/V(x)/Rect(no)>>",
    "<</Subtype/Widget/FT/Tx/T(a)/V(x)/Rect[1e38 -1e38 -1e39 1e39]>>",
    "<</Subtype/Widget/FT/Tx/T(a)/V 6 0 R/Rect[60 500 200 520]>>",
    "<</Subtype/Widget/FT/Tx/T(a)/V[[[]]]/Rect[60 500 200 520]/Parent 6 0 R>>",
    "<</Subtype/Widget/FT/Tx/T(a)/Kids[6 0 R]/Parent 6 0 R/V<FEFFD800>/Rect[60 500 200 520]>>",
    "<</Subtype/Widget/FT/Ch/T(a)/Opt 6 0 R/V 6 0 R/Rect[60 500 200 520]>>",
    "<</Subtype/Widget/FT/Ch/T(a)/Opt[[]6 0 R null(a)[1 2]]/I[-1 99999 (a)]/V(a)/Rect[60 500 200 520]>>",
    "<</Subtype/Widget/FT/Btn/T(a)/AS(x)/AP 6 0 R/Rect[60 500 200 520]>>",
    "<</Subtype/Widget/FT/Zz/T(a)/V(x)/F(x)/Rect[60 500 200 520]>>",
    "<</Subtype/FreeText/Contents 12/DA[]/Rect[60 500 200 520]>>",
    "<</Subtype/FreeText/Contents<FEFFDC00D800FFFE>/DA(/F 99999999999 Tf)/Rect[200 520 60 500]>>",
    "<</Subtype/FreeText/Contents<0001020304>/DA(/F 0.0000001 Tf)/Rect[60 500 61.5 501.5]>>",
    "<</Subtype/FreeText/Contents(tiny)/DA(/F 0.0000001 Tf)/Rect[60 500 200 520]>>",
]


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_annotation_costs_nothing_else(tmp_path: Path, options: ReaderOptions, damaged: str) -> None:
    form = FormPdf(LABELS, annotations=[damaged]).widget((110, 695, 300, 715), "Tx", "/V(Anna)")
    words = text_of(tmp_path, options, form).split()
    assert words[:2] == ["Name:", "Anna"]
    assert words[-3:] == ["Signed", "in", "Leipzig."] or "FreeText" in damaged or "FT" in damaged


@pytest.mark.parametrize("seed", range(30))
def test_flipped_bytes_raise_nothing_but_failures(tmp_path: Path, options: ReaderOptions, seed: int) -> None:
    form = FormPdf(LABELS).widget((110, 695, 300, 715), "Tx", "/V(Anna Keller)").box((320, 699, 332, 711), True)
    form.widget((60, 560, 200, 620), "Ch", "/Opt[[(de)(Germany)][(at)(Austria)]]/V(at)")
    form.free_text((60, 500, 300, 520), "Received")
    data = bytearray(form.written())
    chance = random.Random(seed)
    start = data.index(b"/Annot")
    for _ in range(chance.randint(1, 12)):
        data[chance.randrange(start, len(data))] = chance.randrange(256)
    with contextlib.suppress(DocumentFailure):
        assert read(tmp_path, options, bytes(data)).pages
