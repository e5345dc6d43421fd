import pytest

from pincite.failures import DocumentFailure, FailureCode
from workers.extract.decoding import decode

WESTERN = "Café « Zürich »\nTen thousand naïve façades cost 5 € each.\n"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"plain", "plain", "utf-8"),
        ("naïve – 日本語".encode(), "naïve – 日本語", "utf-8"),
        (b"\xef\xbb\xbfmarked", "marked", "utf-8"),
        ("marked ä".encode("utf-16"), "marked ä", "utf-16"),
        (b"\xfe\xff" + "big ä".encode("utf-16-be"), "big ä", "utf-16"),
        ("marked ä".encode("utf-32"), "marked ä", "utf-32"),
        ("no mark, one line\n".encode("utf-16-le"), "no mark, one line\n", "utf-16-le"),
        ("no mark, one line\n".encode("utf-16-be"), "no mark, one line\n", "utf-16-be"),
        (WESTERN.encode("cp1252"), WESTERN, "cp1252"),
        ("## können\n\näöüß\n".encode("latin-1"), "## können\n\näöüß\n", "cp1252"),
    ],
)
def test_encodings(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding, decoded.warnings) == (text, encoding, ())


def test_longer_text_in_other_alphabets_is_guessed() -> None:
    russian = "Арендатор платит аренду в третий рабочий день каждого месяца, а владелец чинит отопление. " * 8
    assert decode(russian.encode("cp1251")).text == russian
    greek = "Ο ενοικιαστής πληρώνει το ενοίκιο την τρίτη εργάσιμη ημέρα κάθε μήνα στον ιδιοκτήτη. " * 8
    assert decode(greek.encode("cp1253")).text == greek


def test_an_encoding_that_the_file_declares_is_tried_before_guessing() -> None:
    assert decode("Привет".encode("cp1251"), "windows-1251").text == "Привет"
    assert decode(b"caf\xe9", "no-such-encoding").text == "café"


def test_a_file_cut_within_a_character_keeps_its_text_and_warns() -> None:
    data = ("schöne Grüße aus München " * 20).encode() + "ü".encode()[:1]
    decoded = decode(data)
    assert decoded.text.startswith("schöne Grüße")
    assert [warning.code for warning in decoded.warnings] == ["undecodable"]


def test_a_few_zero_bytes_do_not_make_a_text_binary() -> None:
    assert decode(b"one \x00 two three four five six seven\n").text.startswith("one \x00 two")


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 8,
        b"\x00\x01\x02\x03" * 50,
        b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8" + bytes(200),
    ],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentFailure) as raised:
        decode(data)
    assert raised.value.code is FailureCode.UNSUPPORTED_TYPE
    assert "binary" in raised.value.detail
