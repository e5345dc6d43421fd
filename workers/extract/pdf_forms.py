"""What the fields of a PDF form show, and its text boxes (FreeText annotations): pdfium's text layer lacks both."""

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from pincite.documents import Warning
from workers.extract.cleaning import clean_rendered
from workers.extract.pdf_form_words import Entry
from workers.extract.pdf_words import Frame
from workers.extract.visible import has_visible_text

TICKED, NOT_TICKED = "☒", "☐"

_MOST_ANNOTATIONS = 20_000  # of a page
_MOST_ENTRIES = 2_000
_MOST_CHARACTERS = 500_000
_MOST_OPTIONS = 2_000
_SMALLEST = 1.0  # points
_UNSEEN = pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_BOXES = frozenset({pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON})
_CHOICES = frozenset({pdfium_c.FPDF_FORMFIELD_COMBOBOX, pdfium_c.FPDF_FORMFIELD_LISTBOX})
_SIZE = re.compile(r"(\d{1,4}(?:\.\d{1,9})?)\s+Tf")
_XFA = frozenset({pdfium_c.FORMTYPE_XFA_FULL, pdfium_c.FORMTYPE_XFA_FOREGROUND})
# The page that a form in XFA shows where a program cannot fill it in.
_PLACEHOLDER = re.compile(
    r"please wait|bitte warten|veuillez patienter|(?:espere|aguarde),? por favor|por favor,? espere|attendere", re.I
)
_LONGEST_PLACEHOLDER = 2_000


@contextmanager
def forms_of(document: pdfium.PdfDocument) -> Iterator["Forms"]:
    """The forms of an open document; to be left before it is closed."""
    kind = pdfium_c.FPDF_GetFormType(document.raw)
    if kind == pdfium_c.FORMTYPE_NONE:
        yield Forms(kind, None)
        return
    # Not the document's own `init_forms`: with that, pdfium would lay out every field of every page.
    told = pdfium_c.FPDF_FORMFILLINFO(version=2)
    handle = pdfium_c.FPDFDOC_InitFormFillEnvironment(document.raw, told)
    try:
        yield Forms(kind, handle or None)
    finally:
        if handle:
            pdfium_c.FPDFDOC_ExitFormFillEnvironment(handle)


class Forms:
    """Reads the entries of pages. Damaged annotations are passed over; nothing is raised for them."""

    def __init__(self, kind: int, handle: Any) -> None:
        self._kind, self._handle = kind, handle

    def entries(self, page: pdfium.PdfPage, number: int, frame: Frame) -> tuple[list[Entry], Warning | None]:
        """What is filled in on a page, and a warning where there is more than is read.

        Boxes that are not ticked count where anything else is filled in: an empty form is read as it is printed.
        """
        count = pdfium_c.FPDFPage_GetAnnotCount(page.raw)
        if count <= 0:
            return [], None
        found: list[Entry] = []
        characters, complete = 0, count <= _MOST_ANNOTATIONS
        for at in range(min(count, _MOST_ANNOTATIONS)):
            annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, at)
            if not annotation:
                continue
            try:
                entry = self._entry(annotation, frame)
            finally:
                pdfium_c.FPDFPage_CloseAnnot(annotation)
            if entry is None:
                continue
            characters += len(entry.text)
            if len(found) >= _MOST_ENTRIES or characters > _MOST_CHARACTERS:
                complete = False
                break
            found.append(entry)
        if all(entry.text == NOT_TICKED for entry in found):
            found = []
        return found, None if complete else _too_many(number)

    def warning(self, number: int, text: str) -> Warning | None:
        """A warning for a page that stands in the place of a form in XFA."""
        if self._kind not in _XFA or len(text) > _LONGEST_PLACEHOLDER or not _PLACEHOLDER.search(text):
            return None
        message = (
            f"Page {number} only asks to wait: the form itself is in XFA, which is not read. Open it in Adobe Acrobat "
            "or Reader, print it to a flat PDF, and add that."
        )
        return Warning("form_not_read", message, number)

    def _entry(self, annotation: Any, frame: Frame) -> Entry | None:
        kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
        is_field = kind == pdfium_c.FPDF_ANNOT_WIDGET and self._handle is not None
        if not is_field and kind != pdfium_c.FPDF_ANNOT_FREETEXT:
            return None
        if pdfium_c.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
            return None
        box = _box(annotation, frame)
        if box is None:
            return None
        if is_field:
            return self._field(annotation, box)
        text = _cleaned(_told(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"Contents"))
        return Entry(text, box, _type_size(annotation), several_lines=True) if text else None

    def _field(self, annotation: Any, box: tuple[float, float, float, float]) -> Entry | None:
        kind = pdfium_c.FPDFAnnot_GetFormFieldType(self._handle, annotation)
        if kind in _BOXES:
            return Entry(TICKED if _is_ticked(annotation) else NOT_TICKED, box, is_mark=True)
        several = kind == pdfium_c.FPDF_FORMFIELD_LISTBOX
        if kind in _CHOICES:
            text = self._chosen(annotation)
        elif kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD:
            flags = pdfium_c.FPDFAnnot_GetFormFieldFlags(self._handle, annotation)
            if flags & pdfium_c.FPDF_FORMFLAG_TEXT_PASSWORD:
                return None
            several = bool(flags & pdfium_c.FPDF_FORMFLAG_TEXT_MULTILINE)
            text = self._value(annotation)
        else:
            return None
        text = _cleaned(text)
        return Entry(text, box, _type_size(annotation), several_lines=several) if text else None

    def _value(self, annotation: Any) -> str:
        return _told(pdfium_c.FPDFAnnot_GetFormFieldValue, self._handle, annotation)

    def _chosen(self, annotation: Any) -> str:
        """The chosen options as they are shown, which may differ from the values that are sent; else what was typed."""
        handle = self._handle
        options = range(min(pdfium_c.FPDFAnnot_GetOptionCount(handle, annotation), _MOST_OPTIONS))
        chosen = [at for at in options if pdfium_c.FPDFAnnot_IsOptionSelected(handle, annotation, at)]
        labels = [_told(pdfium_c.FPDFAnnot_GetOptionLabel, handle, annotation, at) for at in chosen]
        return "\n".join(filter(None, labels)) or self._value(annotation)


def _type_size(annotation: Any) -> float:
    """In points; 0 where the annotation itself names none."""
    size = _SIZE.search(_told(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"DA"))
    return float(size[1]) if size else 0.0


def _is_ticked(annotation: Any) -> bool:
    """By the state that is shown; where none is given, by the value."""
    state = _told(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"AS")
    state = state or _told(pdfium_c.FPDFAnnot_GetStringValue, annotation, b"V")
    return state not in {"", "Off"}


def _box(annotation: Any, frame: Frame) -> tuple[float, float, float, float] | None:
    """The rectangle as far as it is on the page as shown; None where nothing of it can be seen."""
    seen = pdfium_c.FS_RECTF()
    if not pdfium_c.FPDFAnnot_GetRect(annotation, seen):
        return None
    left, top, right, bottom = frame.box(seen.left, seen.bottom, seen.right, seen.top)
    left, top = max(left, 0.0), max(top, 0.0)
    right, bottom = min(right, frame.width), min(bottom, frame.height)
    # Damaged numbers may be infinite or none: such a comparison is false.
    return (left, top, right, bottom) if right - left >= _SMALLEST and bottom - top >= _SMALLEST else None


def _told(ask: Callable[..., int], *about: Any) -> str:
    """A text of pdfium's; of one that is far too long, enough to be seen as that."""
    length = ask(*about, None, 0)
    if length <= 2:  # bytes, with the NUL at the end
        return ""
    if length > 2 * _MOST_CHARACTERS + 2:
        return "?" * (_MOST_CHARACTERS + 1)
    buffer = (ctypes.c_ushort * (length // 2 + 1))()
    ask(*about, buffer, length)
    return bytes(buffer).decode("utf-16-le", "surrogatepass").partition("\0")[0]


def _cleaned(text: str) -> str:
    text = clean_rendered(text).strip("\n") if text else ""
    return text if has_visible_text(text) else ""


def _too_many(number: int) -> Warning:
    message = (
        f"Page {number} has more form fields and annotations, or longer ones, than are read ({_MOST_ENTRIES:,} filled "
        f"fields, {_MOST_CHARACTERS:,} characters, {_MOST_ANNOTATIONS:,} annotations): the rest was left out. Print it "
        "to a flat PDF, and add that."
    )
    return Warning("form_not_read", message, number)
