"""The encodings that a file may say it is written in: those of texts on the web, and no other codec of Python's.

Python's registry also holds codecs that are no encodings of text (`rot13`, `hex`, `unicode_escape`, `idna`) or that
fail on purpose (`undefined`); a file must not choose among them.
"""

import re

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")

# Python's codec, and the names that texts use for it (WHATWG Encoding, and mail). As browsers do, the older of two
# encodings is read as the one that contains it: ISO 8859-1 as Windows-1252.
_NAMES = {
    "utf-8": "utf8 unicode11utf8",
    "cp866": "ibm866 cp866 866",
    "iso8859-2": "iso88592 latin2 l2",
    "iso8859-3": "iso88593 latin3 l3",
    "iso8859-4": "iso88594 latin4 l4",
    "iso8859-5": "iso88595 cyrillic",
    "iso8859-6": "iso88596 iso88596e iso88596i arabic",
    "iso8859-7": "iso88597 greek greek8",
    "iso8859-8": "iso88598 iso88598e iso88598i hebrew visual logical",
    "iso8859-10": "iso885910 latin6 l6",
    "iso8859-13": "iso885913",
    "iso8859-14": "iso885914",
    "iso8859-15": "iso885915 latin9 l9",
    "iso8859-16": "iso885916",
    "koi8-r": "koi8r koi8 koi",
    "koi8-u": "koi8u koi8ru",
    "mac-roman": "macintosh macroman xmacroman mac",
    "mac-cyrillic": "xmaccyrillic maccyrillic xmacukrainian",
    "cp874": "windows874 cp874 tis620 iso885911 dos874",
    "cp1250": "windows1250 cp1250 xcp1250",
    "cp1251": "windows1251 cp1251 xcp1251",
    "cp1252": "windows1252 cp1252 xcp1252 iso88591 latin1 l1 ascii usascii ansix341968",
    "cp1253": "windows1253 cp1253 xcp1253",
    "cp1254": "windows1254 cp1254 xcp1254 iso88599 latin5 l5",
    "cp1255": "windows1255 cp1255 xcp1255",
    "cp1256": "windows1256 cp1256 xcp1256",
    "cp1257": "windows1257 cp1257 xcp1257",
    "cp1258": "windows1258 cp1258 xcp1258",
    "gb18030": "gb18030 gbk gb2312 xgbk chinese csgb2312 gb231280 isoir58",
    "big5hkscs": "big5 big5hkscs cnbig5 xxbig5 csbig5",
    "euc_jp": "eucjp xeucjp cseucpkdfmtjapanese",
    "cp932": "shiftjis sjis xsjis mskanji windows31j ms932 csshiftjis",
    "cp949": "euckr cseuckr korean ksc5601 ksc56011987 ksc56011989 windows949 cp949 isoir149",
    "iso2022_jp_ext": "iso2022jp csiso2022jp iso2022jp1 iso2022jp2",
    "iso2022_kr": "iso2022kr csiso2022kr",
}
_CODECS = {name: codec for codec, names in _NAMES.items() for name in names.split()}

# These switch alphabets with ESC and are otherwise bytes of ASCII, so they must be tried before UTF-8.
ESCAPED = ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2", "iso2022_jp_3", "iso2022_jp_2004", "iso2022_kr")
# ESC, then the choice of a set: $B, $@, $A, (J, (I, $(D, $)C. A terminal's colours are ESC [.
SWITCHES_ALPHABET = re.compile(rb"\x1b(?:\$[@AB]|\$[()][A-Z@]|\(I)")


def codec_of(declared: str | None) -> str | None:
    """Python's codec for the name that a file gives its encoding, None for a name that is not on the list.

    UTF-16 is not: where the name itself could be read, it is wrong.
    """
    return _CODECS.get(bare_name(declared or ""))


def bare_name(encoding: str) -> str:
    """The letters and digits of an encoding's name, in lower case: all that counts of it."""
    return _NOT_ALPHANUMERIC.sub("", encoding.lower())
