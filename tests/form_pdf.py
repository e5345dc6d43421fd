"""PDF files with form fields and annotations, written byte by byte: what is in them is what a test says."""

from collections.abc import Sequence
from dataclasses import dataclass, field

SIZE, WIDTH, HEIGHT = 12, 600, 800
_PAGE = f"/MediaBox[0 0 {WIDTH} {HEIGHT}]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"


@dataclass
class FormPdf:
    """One page: `drawn` are texts with their place (left, base line from the foot), `annotations` dictionaries."""

    drawn: Sequence[tuple[float, float, str]] = ()
    annotations: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    form: str = ""
    catalog: str = ""
    rules: str = ""
    page: str = ""

    def widget(self, rectangle: Sequence[float], kind: str, entries: str = "") -> "FormPdf":
        """Add a field; `kind` is its type (Tx, Btn, Ch)."""
        place = " ".join(map(str, rectangle))
        self.annotations.append(
            f"<</Type/Annot/Subtype/Widget/FT/{kind}/T(f{len(self.annotations)})/Rect[{place}]{entries}>>"
        )
        return self

    def box(self, rectangle: Sequence[float], ticked: bool, entries: str = "") -> "FormPdf":
        """Add a box to tick."""
        state = "Yes" if ticked else "Off"
        shown = "/AP<</N<</Yes 4 0 R/Off 4 0 R>>>>"
        return self.widget(rectangle, "Btn", f"/V/{state}/AS/{state}{shown}{entries}")

    def free_text(self, rectangle: Sequence[float], text: str, entries: str = "") -> "FormPdf":
        """Add a text box that belongs to no form."""
        place = " ".join(map(str, rectangle))
        shown = f"/Contents({text})/DA(/Helv 10 Tf)"
        self.annotations.append(f"<</Type/Annot/Subtype/FreeText/Rect[{place}]{shown}{entries}>>")
        return self

    def written(self) -> bytes:
        """The file."""
        content = "".join(f"BT /F1 {SIZE} Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in self.drawn) + self.rules
        first = 6
        numbers = range(first, first + len(self.annotations))
        listed = " ".join(f"{number} 0 R" for number in numbers)
        parents = " ".join(f"{number} 0 R" for number in range(numbers.stop, numbers.stop + len(self.parents)))
        fields = " ".join(
            f"{number} 0 R"
            for number, text in zip(numbers, self.annotations, strict=True)
            if "/Widget" in text and "/Parent" not in text
        )
        is_form = fields or parents or self.form
        form = f"/AcroForm<</Fields[{fields} {parents}]/DA(/F1 0 Tf){self.form}>>" if is_form else ""
        objects = [
            f"<</Type/Catalog/Pages 2 0 R{form}{self.catalog}>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            f"<</Type/Page/Parent 2 0 R{_PAGE}/Contents 5 0 R/Annots[{listed}]{self.page}>>",
            "<</Type/XObject/Subtype/Form/BBox[0 0 10 10]/Length 0>>stream\n\nendstream",
            f"<</Length {len(content.encode('latin-1'))}>>stream\n{content}\nendstream",
            *self.annotations,
            *self.parents,
        ]
        data = bytearray(b"%PDF-1.7\n")
        places: list[int] = []
        for number, text in enumerate(objects, start=1):
            places.append(len(data))
            data += f"{number} 0 obj{text}endobj\n".encode("latin-1")
        start = len(data)
        data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
        data += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
        return bytes(data + f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode())
