from pathlib import Path

import pytest

from pincite.settings import Settings
from workers.extract.options import ReaderOptions
from workers.page_picture import PageTooLargeError, fitting_dpi
from workers.reading import reader_options


def options(tmp_path: Path) -> ReaderOptions:
    return reader_options(Settings.model_validate({"data": tmp_path}))


def test_an_ordinary_page_has_the_dpi_of_the_settings(tmp_path: Path) -> None:
    assert fitting_dpi(595, 842, options(tmp_path)) == 300


def test_a_poster_has_fewer_so_that_its_pixels_stay_within_the_limit(tmp_path: Path) -> None:
    limits = options(tmp_path)
    dpi = fitting_dpi(2384, 3370, limits)
    assert 72 <= dpi < 300
    assert 2384 * 3370 * (dpi / 72) ** 2 <= limits.ocr_max_pixels


def test_what_would_be_too_coarse_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(PageTooLargeError, match=r"200 x 200 inches.*PINCITE_OCR_MAX_PIXELS"):
        fitting_dpi(14_400, 14_400, options(tmp_path))
