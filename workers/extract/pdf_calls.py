"""pdfium's short questions, asked thousands of times for a page: called without ctypes' checks of every argument.

A call through pypdfium2's bindings spends most of its time on converting pointers and on letting other threads run. The
functions here that ask for text take the same arguments: pointers as the bindings' own objects or as `ctypes.byref`
gives them, whole numbers as `int`. They are not checked: a wrong one is read as memory. Page objects are addresses.
"""

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as pdfium_c


def _unchecked(function: Any, result: Any = ctypes.c_int, *arguments: Any) -> Callable[..., Any]:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None, "pdfium has the function, or its bindings would not name it"
    call: Callable[..., Any] = ctypes.PYFUNCTYPE(result, *arguments)(address)
    return call


loose_box = _unchecked(pdfium_c.FPDFText_GetLooseCharBox)
origin = _unchecked(pdfium_c.FPDFText_GetCharOrigin)
font_size = _unchecked(pdfium_c.FPDFText_GetFontSize, ctypes.c_double)
matrix_of = _unchecked(pdfium_c.FPDFText_GetMatrix)
_font_info = _unchecked(
    pdfium_c.FPDFText_GetFontInfo,
    ctypes.c_ulong,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_void_p,
)
is_generated = _unchecked(pdfium_c.FPDFText_IsGenerated)
text_object = _unchecked(pdfium_c.FPDFText_GetTextObject, ctypes.c_void_p)
font_of_object = _unchecked(pdfium_c.FPDFTextObj_GetFont, ctypes.c_void_p, ctypes.c_void_p)
lacks_unicode = _unchecked(pdfium_c.FPDFText_HasUnicodeMapError)

# The page or the form that is asked for an object is a `ctypes.c_void_p`.
page_object = _unchecked(pdfium_c.FPDFPage_GetObject, ctypes.c_void_p)
form_object = _unchecked(pdfium_c.FPDFFormObj_GetObject, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong)
objects_in_form = _unchecked(pdfium_c.FPDFFormObj_CountObjects, ctypes.c_int, ctypes.c_void_p)
kind_of_object = _unchecked(pdfium_c.FPDFPageObj_GetType, ctypes.c_int, ctypes.c_void_p)
bounds_of_object = _unchecked(pdfium_c.FPDFPageObj_GetBounds, ctypes.c_int, *[ctypes.c_void_p] * 5)
matrix_of_object = _unchecked(pdfium_c.FPDFPageObj_GetMatrix, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
segment_of_path = _unchecked(pdfium_c.FPDFPath_GetPathSegment, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
kind_of_segment = _unchecked(pdfium_c.FPDFPathSegment_GetType, ctypes.c_int, ctypes.c_void_p)
point_of_segment = _unchecked(pdfium_c.FPDFPathSegment_GetPoint, ctypes.c_int, *[ctypes.c_void_p] * 3)
closes_path = _unchecked(pdfium_c.FPDFPathSegment_GetClose, ctypes.c_int, ctypes.c_void_p)
segments_of_path = _unchecked(pdfium_c.FPDFPath_CountSegments, ctypes.c_int, ctypes.c_void_p)

# Left, top, right and bottom of an FS_RECTF: read at once, not field by field.
read_box = struct.Struct("4f").unpack_from
# The six numbers of an FS_MATRIX.
read_matrix = struct.Struct("6f").unpack_from

_USUAL_NAME = 64  # bytes, with the NUL at the end
_no_flags = ctypes.byref(ctypes.c_int())


def font_name(textpage: Any, at: int) -> str:
    """The name of the font of a text page's character, empty where it has none."""
    name = ctypes.create_string_buffer(_USUAL_NAME)
    length = _font_info(textpage, at, name, len(name), _no_flags)
    if length > len(name):  # then nothing was written
        name = ctypes.create_string_buffer(length)
        _font_info(textpage, at, name, length, _no_flags)
    return name.value.decode("latin-1")
