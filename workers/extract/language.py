"""The language of a document, as an ISO 639-1 code, or None where it is not certain."""

from functools import lru_cache
from typing import Any

_SAMPLE_CHARACTERS = 5_000
_FEWEST_LETTERS = 20
_CERTAIN = 0.9
_NO_LANGUAGE = "zxx"


def detect_language(text: str) -> str | None:
    """The language of the first characters of `text` (up to 5,000), None under 20 letters or 90 % certainty."""
    sample = text[: _SAMPLE_CHARACTERS * 2].strip()[:_SAMPLE_CHARACTERS]
    if sum(character.isalpha() for character in sample) < _FEWEST_LETTERS:
        return None
    language, certainty = _identifier().classify(sample)
    certain = certainty >= _CERTAIN and language != _NO_LANGUAGE
    return str(language) if certain else None


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # The model takes a tenth of a second to load: only a process that needs it pays.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
