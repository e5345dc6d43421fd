"""The documents of a chaos run: what is delivered, changed, renamed and removed, and what has to come of it."""

import random
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256

from pincite.documents import State
from tests.documents import encrypted_pdf, image_png, mail_eml, text_pdf
from tests.office_documents import word_docx, zipped

DOCUMENTS = 200
DROP, API, INGEST = "drop", "api", "ingest"


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file and what must come of them. `inside` are the files of a message."""

    data: bytes
    code: str | None = None
    inside: dict[str, "Content"] = field(default_factory=dict)
    stored: bool = True

    @property
    def state(self) -> State:
        return State.FAILED if self.code else State.INDEXED

    @property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a user does: `put` (new or changed), `remove`, or `rename` to `target`."""

    what: str
    path: str
    content: Content | None = None
    target: str = ""


Present = dict[str, Content]


def sentences(draw: random.Random, subject: str, number: int) -> str:
    """Text of which no two documents have the same."""
    places = ("row", "shelf", "drawer", "hall", "cupboard", "yard")
    return " ".join(
        f"{subject} part {n} lies in {draw.choice(places)} {draw.randrange(10_000)} beside key {draw.randrange(10**6)}."
        for n in range(number)
    )


def _text(draw: random.Random, subject: str) -> bytes:
    return sentences(draw, subject, draw.choice((1, 1, 2, 3, 25))).encode()


def _markdown(draw: random.Random, subject: str) -> bytes:
    return f"# {subject}\n\n{sentences(draw, subject, 2)}\n\n## Keys\n\n{sentences(draw, subject, 1)}\n".encode()


def _html(draw: random.Random, subject: str) -> bytes:
    text = sentences(draw, subject, 2)
    return f"<html><title>{subject}</title><body><h1>{subject}</h1><p>{text}</p></body></html>".encode()


def _csv(draw: random.Random, subject: str) -> bytes:
    rows = "\n".join(f"{subject},{n},{draw.randrange(10**6)}" for n in range(4))
    return f"name,place,key\n{rows}\n".encode()


def _docx(draw: random.Random, subject: str) -> bytes:
    return word_docx([sentences(draw, subject, 2)], title=subject)


def _pdf(draw: random.Random, subject: str) -> bytes:
    return text_pdf([sentences(draw, subject, 1), sentences(draw, subject, 1)])


def _scan(draw: random.Random, subject: str) -> bytes:
    return image_png([subject.upper(), f"KEY NUMBER {draw.randrange(10**6)}", "BESIDE THE DOOR"])


def _corrupt(draw: random.Random, subject: str) -> bytes:
    return b"%PDF-1.7\n" + subject.encode() + draw.randbytes(300)


def _locked(draw: random.Random, subject: str) -> bytes:
    return encrypted_pdf(sentences(draw, subject, 1), "secret")


def _archive(draw: random.Random, subject: str) -> bytes:
    return zipped({f"{subject}.bin": draw.randbytes(40)})


# What to make, the name's ending, the expected failure, and the share of a run's documents.
KINDS: tuple[tuple[Callable[[random.Random, str], bytes], str, str | None, int], ...] = (
    (_text, "txt", None, 64),
    (_markdown, "md", None, 40),
    (_html, "html", None, 28),
    (_csv, "csv", None, 20),
    (_docx, "docx", None, 10),
    (_pdf, "pdf", None, 10),
    (_scan, "png", None, 4),
    (_corrupt, "pdf", "corrupt", 4),
    (_locked, "pdf", "encrypted", 2),
    (_archive, "zip", "unsupported_type", 4),
    (lambda _draw, _subject: b"", "txt", "empty_file", 3),
    (lambda draw, _subject: b" \n" * draw.randrange(3, 3000), "txt", "no_text", 3),
)
MAILS, POISONS = 7, 1


def _made(draw: random.Random, kind: tuple[Callable[[random.Random, str], bytes], str, str | None, int]) -> Content:
    return Content(kind[0](draw, f"Box {draw.randrange(10**9)}"), kind[2])


def _mail(draw: random.Random, number: int) -> Content:
    inside = {f"note-{n}.txt": _made(draw, KINDS[0]) for n in range(draw.randrange(1, 3))}
    if number % 3 == 0:
        inside["locked.pdf"] = _made(draw, KINDS[8])
    files = {name: content.data for name, content in inside.items()}
    subject = f"Delivery {draw.randrange(10**9)}"
    return Content(mail_eml(sentences(draw, subject, 2), subject, files), inside=inside)


def _poison() -> Content:
    # Its bytes never reach the store, so that every try fails in a way that might pass.
    return Content(secrets.token_bytes(40), "read_error", stored=False)


class Plan:
    """What the three channels (drop folder, API, ingest) do in one run, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(f"documents {seed}")
        self.actions: dict[str, list[Action]] = {DROP: [], API: [], INGEST: []}
        arrivals = [
            Action("put", f"{kind[1]}/{n:02}-{kind[2] or 'good'}.{kind[1]}", _made(draw, kind))
            for kind in KINDS
            for n in range(kind[3])
        ]
        arrivals += [Action("put", f"mail/{n}.eml", _mail(draw, n)) for n in range(MAILS)]
        draw.shuffle(arrivals)
        share = {DROP: 120, API: 45, INGEST: DOCUMENTS - 165 - POISONS}
        for channel, number in share.items():
            mine, arrivals = arrivals[:number], arrivals[number:]
            self.actions[channel] = self._mixed(draw, mine, channel)
        self.actions[INGEST].insert(3, Action("put", "poison.txt", _poison()))

    def present(self, channel: str) -> Present:
        """What is there in the end, by path, attachments included."""
        there: Present = {}
        for action in self.actions[channel]:
            if action.what == "put" and action.content:
                there[action.path] = action.content
            elif action.what == "rename":
                there[action.target] = there.pop(action.path)
            elif action.what == "remove":
                del there[action.path]
        for path, content in list(there.items()):
            there.update({f"{path}/{name}": inside for name, inside in content.inside.items()})
        return there

    def _mixed(self, draw: random.Random, arrivals: list[Action], channel: str) -> list[Action]:
        """The arrivals with what happens to some of them later, at any moment after."""
        actions = list(arrivals)
        chosen = draw.sample(arrivals, len(arrivals) // 3)
        for number, arrival in enumerate(chosen):
            later: list[Action]
            match number % 4:
                case 0 | 1:
                    later = [Action("put", arrival.path, self._changed(draw, arrival))]
                case 2:
                    later = [Action("remove", arrival.path)]
                case _ if channel == DROP:
                    moved = f"moved/{arrival.path.replace('/', '-')}"
                    later = [Action("rename", arrival.path, target=moved)]
                case _:
                    later = [Action("remove", arrival.path), replace(arrival)]
            place = actions.index(arrival)
            for action in later:
                place = draw.randrange(place + 1, len(actions) + 1)
                actions.insert(place, action)
        return actions

    def _changed(self, draw: random.Random, arrival: Action) -> Content:
        """Another content that a file of this name can have: good ones become bad, and bad ones good."""
        ending = arrival.path.rpartition(".")[2]
        if ending == "eml":
            return _mail(draw, draw.randrange(10))
        return _made(draw, draw.choice([kind for kind in KINDS if kind[1] == ending]))


class Pace:
    """Lets the deliveries go on in step with the faults: both end together."""

    def __init__(self) -> None:
        self._progress = 0.0
        self._moved = threading.Condition()
        self.over = False

    def advance(self, progress: float) -> None:
        """The faults have come so far, from 0 to 1."""
        with self._moved:
            self._progress = max(self._progress, progress)
            self._moved.notify_all()

    def end(self) -> None:
        """The run is given up."""
        with self._moved:
            self.over = True
            self._moved.notify_all()

    def wait(self, progress: float) -> bool:
        """Wait until the faults have come so far; False when the run was given up."""
        with self._moved:
            self._moved.wait_for(lambda: self.over or self._progress >= progress)
            return not self.over
