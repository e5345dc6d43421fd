import pytest

from pincite.failures import DocumentFailure, FailureCode
from tests import languages
from workers.extract.decoding import Decoded, decode
from workers.extract.encodings import codec_of
from workers.extract.script_evidence import encoding_by_script

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


LABELS = """UTF-8 utf8 windows-1251 CP1251 ISO-8859-1 iso_8859-15 latin1 koi8-r KOI8-U Shift_JIS EUC-JP ISO-2022-JP GBK
    gb2312 gb18030 Big5 EUC-KR ks_c_5601-1987 macintosh windows-874 tis-620 ibm866 us-ascii iso-8859-8-i x-sjis"""
NO_ENCODINGS = """undefined idna punycode hex rot13 unicode_escape raw_unicode_escape utf-7 base64 zlib utf-16 mbcs
    x-user-defined"""


@pytest.mark.parametrize("name", NO_ENCODINGS.split())
def test_a_file_cannot_choose_a_codec_that_is_no_encoding_of_text(name: str) -> None:
    assert codec_of(name) is None
    assert decode(b"caf\xe9 \\u0041 +AGE- xn--a", name).text == "café \\u0041 +AGE- xn--a"
    assert decode(b"plain \\u0041", name).text == "plain \\u0041"


def test_every_encoding_on_the_list_is_one_of_text() -> None:
    for codec in {codec_of(name) for name in LABELS.split()}:
        assert codec is not None
        assert "Tenancy 7".encode(codec).decode(codec) == "Tenancy 7"


JAPANESE = "借主は毎月三営業日目に家賃を支払う。\n"


@pytest.mark.parametrize("codec", ["iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2", "iso2022_kr"])
def test_encodings_that_switch_alphabets_with_escapes(codec: str) -> None:
    text = (
        "임차인은 매월 임대료를 지불한다.\n"
        if codec == "iso2022_kr"
        else JAPANESE + "｡ｱｲ\n" * (codec == "iso2022_jp_ext")
    )
    decoded = decode(f"Rent\n{text}".encode(codec))
    assert (decoded.text, decoded.warnings) == (f"Rent\n{text}", ())


@pytest.mark.parametrize("missing", range(1, 8))
def test_such_a_text_cut_anywhere_is_still_read(missing: int) -> None:
    data = (JAPANESE * 20).encode("iso2022_jp")[:-missing]
    assert decode(data).text.startswith(JAPANESE)


@pytest.mark.parametrize("data", [b"\x1b[31mred\x1b[0m $B cost", b"price \x1b$B\x1b[0m of \x1b[1m7\x1b[0m units"])
def test_colours_of_a_terminal_are_no_alphabet(data: bytes) -> None:
    assert decode(data).text == data.decode()


@pytest.mark.parametrize("language", [each for each in languages.LANGUAGES if each.charset], ids=lambda each: each.name)
def test_a_sentence_is_enough_to_see_its_script(language: languages.Language) -> None:
    for sentence in language.legacy:
        assert decode(sentence.encode(language.charset)).text == sentence


@pytest.mark.parametrize(
    "language", [languages.CHINESE, languages.KOREAN, languages.JAPANESE], ids=lambda each: each.name
)
def test_a_long_text_cut_within_a_character_keeps_its_script(language: languages.Language) -> None:
    data = "\n".join(language.legacy * 20).encode(language.charset)
    while True:
        data = data[:-1]
        if decode(data).warnings:
            break
    assert decode(data).text.startswith("\n".join(language.legacy))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("契約番号は48213で、借主は毎月の家賃を支払う。", "euc_jp"),
        ("承租人應於每月第三個工作日支付租金。", "big5"),
    ],
)
def test_east_asian_encodings_that_share_their_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Арендатор платит арендную плату в третий рабочий день.", "cp1251"),
        ("ДОГОВОР АРЕНДЫ КВАРТИРЫ", "cp1251"),
        ("договор аренды квартиры", "koi8_r"),
        ("Ο ενοικιαστής πληρώνει το ενοίκιο την τρίτη εργάσιμη ημέρα.", "cp1253"),
        ("Où est-il allé à l'été? Ça, là-bas, voilà.", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
    ],
)
def test_other_alphabets_are_none_of_the_scripts_with_evidence(text: str, encoding: str) -> None:
    assert encoding_by_script(text.encode(encoding)) is None


@pytest.mark.parametrize(
    "text",
    [
        "The Swedish alphabet ends with the letters ÅÄÖ.",
        "Les accents éèà sont obligatoires dans ce formulaire.",
        "Valid characters: a-z A-Z åäö ÅÄÖ 0-9",
        "Name;Marke\nAAA;ØØØ\n",
        "Accents: éèêë àâ ïî ôö.",
        "ØØØ 12 mm, ØØ 6 mm",
        "ÖÄÅ",
        "Été",
        "É",
        "où",
        "Ål",
        "××× ½",
    ],
)
def test_accents_in_a_row_are_western(text: str) -> None:
    assert decode(text.encode("cp1252")) == Decoded(text, "cp1252")


@pytest.mark.parametrize(
    ("text", "charset"), [("Привет, мир", "cp1251"), ("Купить молоко и хлеб", "koi8_r"), ("مرحبا", "cp1256")]
)
def test_what_would_begin_with_a_vowel_point_is_not_hebrew(text: str, charset: str) -> None:
    assert encoding_by_script(text.encode(charset)) in {None, "cp1256"}


@pytest.mark.parametrize("text", ["שלום", "שלום Anna, מחר נדבר", "מפתח חָדָשׁ 7"])
def test_a_word_or_two_of_hebrew(text: str) -> None:
    assert decode(text.encode("cp1255")).text == text
