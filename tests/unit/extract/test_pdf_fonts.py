"""What the names of a PDF's fonts tell."""

from pincite.documents import BlockKind
from tests.unit.extract.test_pdf_tables import Read, read

__all__ = ["read"]

LONG = "ABCDEF+CorporateSansCondensedExtraLightForInternalUseOnlyVersionTwoPointFive"
BOLD_AT_ITS_END = "ABCDEF+CorporateSansCondensedForInternalUseOnlyVersionTwoPointFive-Bold"
PROSE = ["The rent is due on the third working day.", "The landlord answers for the heating of the flat."]
SIGNS = "h is k and i or p or b or c is e, 0"


def written(lines: list[tuple[str, str]]) -> bytes:
    """Lines one under the other, each with the name of its font."""
    fonts = sorted({font for font, _ in lines})
    named = " ".join(
        f"/F{at} <</Type/Font/Subtype/Type1/BaseFont/{font}/Encoding/WinAnsiEncoding>>" for at, font in enumerate(fonts)
    )
    drawn = "\n".join(
        f"BT /F{fonts.index(font)} 11 Tf 50 {760 - 30 * number} Td ({text}) Tj ET"
        for number, (font, text) in enumerate(lines)
    ).encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<<{named}>>>>>>".encode(),
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
    ]
    file, places = b"%PDF-1.5\n", b"0000000000 65535 f \n"
    for number, item in enumerate(objects, start=1):
        places += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    return file + b"xref\n0 5\n%strailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (places, len(file))


def test_a_font_with_a_long_name_is_not_taken_for_the_symbols_asked_before(read: Read) -> None:
    [page] = read(written([("CMSY10", "h"), (LONG, SIGNS)])).pages
    assert page.text.split("\n") == ["⟨", SIGNS]


def test_a_font_with_a_long_name_is_not_bold_because_the_one_before_was(read: Read) -> None:
    lines = [("Helvetica-Bold", "Rent"), (LONG, PROSE[0]), (LONG, "A short remark"), (LONG, PROSE[1])]
    [page] = read(written(lines)).pages
    assert [block.title for block in page.blocks if block.kind is BlockKind.HEADING] == ["Rent"]


def test_the_end_of_a_long_name_tells_too(read: Read) -> None:
    lines = [(BOLD_AT_ITS_END, "Heating"), (LONG, PROSE[0]), (LONG, PROSE[1])]
    [page] = read(written(lines)).pages
    assert [block.title for block in page.blocks if block.kind is BlockKind.HEADING] == ["Heating"]
