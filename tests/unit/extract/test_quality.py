import pytest

from tests.documents import PARAGRAPH
from workers.extract.quality import PageLayer, is_readable, needs_ocr

SHIFTED = "".join(chr((ord(letter) - 97 + 3) % 26 + 97) if letter.islower() else letter for letter in PARAGRAPH)


@pytest.mark.parametrize(
    "text",
    [
        PARAGRAPH,
        "東京都は日本の首都であり、世界最大の都市圏を形成しています。",
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Zmrzlina čtvrt vlk prst krk.",
        "تحسين الإنتاجية وحل المشكلات من خلال البرمجة",
        "नमस्ते दुनिया, यह एक परीक्षण है।",
        "Łódź, Şişli, Ærøskøbing, Đà Nẵng",
        "1. Introduction .................... 7\n2. Method ........................ 19\n",
        "06/22/2015 06/30/2015 4,120.50 EUR 17 %",
        "12",
        "E = mc² (1)",
    ],
)
def test_layers_of_all_scripts_are_readable(text: str) -> None:
    assert is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "\ufffd\ufffd\ufffd a \ufffd\ufffd",
        "\ue001\ue002\ue003\ue004 \ue005",
        "(cid:12)(cid:44)(cid:7)(cid:19) (cid:3)",
        "/G21 /G22 /G4A /G00 /G17",
        "\"7+%-'",
        "!\"#$%& '()*+ ,-./:; <=>?@",
        SHIFTED * 2,
    ],
)
def test_broken_layers_are_not(text: str) -> None:
    assert not is_readable(text)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (PageLayer(PARAGRAPH), False),
        (PageLayer(PARAGRAPH, image_coverage=1.0), False),  # a scan with a good hidden layer
        (PageLayer("Page 3", image_coverage=1.0), True),
        (PageLayer("CONFIDENTIAL - do not copy", image_coverage=0.9), True),
        (PageLayer("x", image_coverage=1.0), True),
        (PageLayer("", image_coverage=1.0), True),
        (PageLayer(""), False),  # an empty page
        (PageLayer("", drawn_paths=400), True),  # letters drawn as outlines
        (PageLayer("12", drawn_paths=400), True),
        (PageLayer("12", drawn_paths=3), False),
        (PageLayer(PARAGRAPH, unmapped=0.9), True),
        (PageLayer("\x01\x02 \x03\x04"), True),
        (PageLayer("東京都は日本の首都です", image_coverage=0.1), False),
    ],
)
def test_the_decision_is_per_page_by_amount_coverage_and_quality(layer: PageLayer, expected: bool) -> None:
    assert needs_ocr(layer) is expected
