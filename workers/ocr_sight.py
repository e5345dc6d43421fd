"""Which way up a page lies and in which script it is written, as Tesseract sees it before it reads. Pure."""

import re
from dataclasses import dataclass

_DEGREES = re.compile(r"^Orientation in degrees: (\d+)$", re.MULTILINE)
_SURENESS = re.compile(r"^Orientation confidence: ([\d.]+)$", re.MULTILINE)
_SCRIPT = re.compile(r"^Script: (\w+)$", re.MULTILINE)
_SCRIPT_SURENESS = re.compile(r"^Script confidence: ([\d.]+)$", re.MULTILINE)

_SURE_OF_DIRECTION = 5.0
_SURE_OF_SCRIPT = 2.0

# The languages of Tesseract's data that are not written in Latin letters.
_LANGUAGES = {
    "Arabic": "ara fas kur_ara pus snd uig urd",
    "Armenian": "hye",
    "Bengali": "asm ben",
    "Canadian_Aboriginal": "iku",
    "Cherokee": "chr",
    "Cyrillic": "bel bul kaz kir mkd mon rus srp tat tgk ukr uzb_cyrl aze_cyrl",
    "Devanagari": "hin mar nep san",
    "Ethiopic": "amh tir",
    "Georgian": "kat kat_old",
    "Greek": "ell grc",
    "Gujarati": "guj",
    "Gurmukhi": "pan",
    "Han": "chi_sim chi_sim_vert chi_tra chi_tra_vert jpn jpn_vert",
    "Hangul": "kor kor_vert",
    "Hebrew": "heb yid",
    "Hiragana": "jpn jpn_vert",
    "Japanese": "jpn jpn_vert",
    "Kannada": "kan",
    "Katakana": "jpn jpn_vert",
    "Khmer": "khm",
    "Korean": "kor kor_vert",
    "Lao": "lao",
    "Malayalam": "mal",
    "Myanmar": "mya",
    "Oriya": "ori",
    "Sinhala": "sin",
    "Syriac": "syr",
    "Tamil": "tam",
    "Telugu": "tel",
    "Thaana": "div",
    "Thai": "tha",
    "Tibetan": "bod dzo",
}


@dataclass(frozen=True, slots=True)
class Sight:
    """What Tesseract sees: by how many degrees the picture is to be turned counter-clockwise to stand upright (0, 90,
    180, 270), and the script. Surenesses are Tesseract's own numbers, from 0 up."""

    degrees: int
    sureness: float
    script: str
    script_sureness: float

    @property
    def is_sure_of_direction(self) -> bool:
        """Whether the other directions need not be tried."""
        return self.sureness >= _SURE_OF_DIRECTION

    @property
    def is_sure_of_script(self) -> bool:
        """Whether the script can be taken for a fact."""
        return self.script_sureness >= _SURE_OF_SCRIPT

    def foreign_script(self, languages: str) -> str | None:
        """The script, where none of `languages` (such as `eng+deu`) is written in it."""
        native = _LANGUAGES.get(self.script)
        if native is None:
            return None
        asked = {language.removeprefix("script/") for language in languages.split("+")}
        return None if asked & {*native.split(), self.script} else self.script


def languages_in(script: str) -> tuple[str, ...]:
    """Tesseract's names of the languages that are written in a script that is not Latin."""
    return tuple(_LANGUAGES.get(script, "").split())


def read_sight(said: str) -> Sight | None:
    """What stands in Tesseract's report (`--psm 0`); None where it does not say."""
    degrees, sureness = _DEGREES.search(said), _SURENESS.search(said)
    script, script_sureness = _SCRIPT.search(said), _SCRIPT_SURENESS.search(said)
    if not (degrees and sureness and script and script_sureness):
        return None
    return Sight(int(degrees[1]) % 360, float(sureness[1]), script[1], float(script_sureness[1]))
