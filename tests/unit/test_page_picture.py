import pytest

from pincite.page_picture import PageTooLargeError, Resolution, fitting_dpi

USUAL = Resolution(300, 40_000_000)


def test_an_ordinary_page_has_the_dpi_that_is_asked_for() -> None:
    assert fitting_dpi(595, 842, USUAL) == 300


def test_a_poster_has_fewer_so_that_its_pixels_stay_within_the_limit() -> None:
    dpi = fitting_dpi(2384, 3370, USUAL)
    assert 72 <= dpi < 300
    assert 2384 * 3370 * (dpi / 72) ** 2 <= USUAL.max_pixels


def test_what_would_be_too_coarse_is_refused_by_name() -> None:
    with pytest.raises(PageTooLargeError, match=r"200 x 200 inches.*PINCITE_OCR_MAX_PIXELS"):
        fitting_dpi(14_400, 14_400, USUAL)
