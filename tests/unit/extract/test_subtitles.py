from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.documents import CanonicalText, Extracted
from pincite.failures import DocumentFailure, FailureCode
from pincite.locators import TimeLocator, locate, resolve_fragment
from workers.extract import assemble, extract
from workers.extract.options import ReaderOptions

TALK = """WEBVTT - The station's talk

NOTE
Not for the audience --

STYLE
::cue { color: lime }

intro
00:01.000 --> 00:03.500 align:start
<v.loud Anna>The gauge was <c.yellow>replaced</c>
in March &amp; April.</v>

00:03.500 --> 00:05.000
<v Anna>It reads again.

00:00:06.000 --> 00:00:07.250
<v Ben>Since <00:06.500>when?</v><v Anna>Monday.</v>

1:00:00.000 --> 1:00:02.000
The end.
"""


@pytest.fixture
def read(tmp_path: Path, options: ReaderOptions):  # type: ignore[no-untyped-def]
    def reader(text: str | bytes, name: str = "talk.vtt") -> Extracted:
        path = tmp_path / "original"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return extract(path, name, options)

    return reader


def said(extracted: Extracted) -> list[tuple[str, float, float]]:
    return [(extracted.text[p.start : p.end], p.begin_seconds, p.end_seconds) for p in extracted.places]  # type: ignore[union-attr]


def test_cues_become_sentences_of_speakers(read) -> None:  # type: ignore[no-untyped-def]
    found = read(TALK)
    assert found.text == (
        "Anna: The gauge was replaced in March & April. It reads again.\n\nBen: Since when?\n\nAnna: Monday.\n\n"
        "The end."
    )
    assert said(found) == [
        ("Anna: The gauge was replaced in March & April.", 1.0, 3.5),
        ("It reads again.", 3.5, 5.0),
        ("Ben: Since when?", 6.0, 7.25),
        ("Anna: Monday.", 6.0, 7.25),
        ("The end.", 3600.0, 3602.0),
    ]
    assert found.title == "The station's talk"
    assert not found.warnings


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_change_nothing(read, mark: str, line_end: str) -> None:  # type: ignore[no-untyped-def]
    assert said(read(mark + TALK.replace("\n", line_end))) == said(read(TALK))


def test_rolling_captions_give_every_line_once(read) -> None:  # type: ignore[no-untyped-def]
    rolling = """WEBVTT
Kind: captions

00:01.000 --> 00:02.990
&nbsp;
so<00:01.500><c> today</c>

00:02.990 --> 00:03.000
so today
{blank}

00:03.000 --> 00:05.000
so today
we<00:03.500><c> go</c>
00:05.000 --> 00:07.000
we go
home. home.
"""
    found = read(rolling.replace("{blank}", " "))
    assert said(found) == [("so today", 1.0, 2.99), ("we go", 3.0, 5.0), ("home. home.", 5.0, 7.0)]
    assert found.text == "so today we go home. home."


def test_what_is_said_twice_is_kept_twice(read) -> None:  # type: ignore[no-untyped-def]
    found = read("WEBVTT\n\n00:01.000 --> 00:02.000\nNo.\n\n00:02.000 --> 00:03.000\nNo.\n")
    assert found.text == "No. No."


def test_a_pause_ends_the_paragraph(read) -> None:  # type: ignore[no-untyped-def]
    times = [("00:01.000", "00:02.000"), ("00:05.000", "00:06.000"), ("00:09.001", "00:10.000")]
    found = read("WEBVTT\n\n" + "\n\n".join(f"{a} --> {b}\n{n}" for n, (a, b) in enumerate(times)))
    assert found.text == "0 1\n\n2"


def test_lines_of_chinese_meet_without_a_space(read) -> None:  # type: ignore[no-untyped-def]
    found = read("WEBVTT\n\n00:01.000 --> 00:02.000\n今天我们\n去山上。\n\n00:02.000 --> 00:03.000\n안녕\n하세요\n")
    assert found.text == "今天我们去山上。 안녕 하세요"


def test_subrip_with_its_habits(read) -> None:  # type: ignore[no-untyped-def]
    found = read(
        "1\r\n00:00:01,500 --> 00:00:04,000 X1:10\r\n{\\an8}<i>The mast</i> is\r\nx < y here.\r\n\r\nStill cue one.\r\n"
        "2\r\n00:00:04,000 --> 00:00:05,000\r\n<font color=red>It fell --> twice.</font>\r\n\r\n",
        "talk.srt",
    )
    assert said(found) == [
        ("The mast is x < y here. Still cue one.", 1.5, 4.0),
        ("It fell --> twice.", 4.0, 5.0),
    ]


def test_subrip_is_known_by_its_content(read) -> None:  # type: ignore[no-untyped-def]
    found = read("1\n00:00:01,500 --> 00:00:04,000\nThe mast.\n", "talk.txt")
    assert found.media_type == "application/x-subrip"


def test_a_cue_without_times_keeps_its_text_and_says_so(read) -> None:  # type: ignore[no-untyped-def]
    found = read(
        "1\n00:00:01,000 --> 00:00:02,000\nOne\n\n2\nTwo\n\n3\n00:00:03,000 --> 00:00:04,000\nThree\n\n4\nFour\n",
        "a.srt",
    )
    assert said(found) == [("One", 1, 2), ("Two", 2, 3), ("Three", 3, 4), ("Four", 4, 4)]
    (warning,) = found.warnings
    assert warning.code == "cue_without_time"
    assert ": 2." in warning.message


def test_cues_are_told_in_the_order_of_time(read) -> None:  # type: ignore[no-untyped-def]
    found = read("2\n00:00:03,000 --> 00:00:02,000\nLater\n\n1\n00:00:01,000 --> 00:00:02,000\nEarlier\n", "a.srt")
    assert said(found) == [("Earlier", 1, 2), ("Later", 3, 3)]
    assert [warning.code for warning in found.warnings] == ["cue_ends_early"]


@pytest.mark.parametrize(
    ("text", "name", "word"),
    [
        ("00:01.000 --> 00:02.000\nNo head\n", "a.vtt", "not a WebVTT file"),
        ("WEBVTTX\n\n00:01.000 --> 00:02.000\nx\n", "a.vtt", "not a WebVTT file"),
        ("Just a letter.\n\nBye.", "a.srt", "not a SubRip file"),
    ],
)
def test_what_is_no_subtitle_file_is_corrupt(read, text: str, name: str, word: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DocumentFailure) as raised:
        read(text, name)
    assert raised.value.code is FailureCode.CORRUPT
    assert word in raised.value.detail


def test_times_are_cited_and_resolve(read) -> None:  # type: ignore[no-untyped-def]
    text = assemble(read(TALK))
    start = text.text.index("It reads")
    locator = locate(text, start, start + len("It reads again."))
    assert locator == TimeLocator(start, start + 15, 3.5, 5.0)
    assert (locator.fragment, locator.label) == ("#t=3.5,5", "0:03 – 0:05")
    assert resolve_fragment(locator.fragment, text) == "It reads again."
    assert resolve_fragment("#t=3600", text) == "The end."
    assert resolve_fragment("t=npt:,3.5", text) == "Anna: The gauge was replaced in March & April."


ARROWS = st.lists(
    st.sampled_from(
        [
            "1",
            "",
            " ",
            "00:01.000 --> 00:02.000",
            "0:00:05,5 --> 0:00:04,1",
            "x --> y",
            "<v A>Hi</v>",
            "NOTE",
            "<v",
            "&#0;",
            "&#xd800;",
            "99999999:00 --> 1",
            "a\u2028b",
        ]
    ),
    max_size=30,
)


@given(lines=ARROWS, vtt=st.booleans())
def test_any_arrangement_of_lines_gives_exact_places(lines: list[str], vtt: bool) -> None:
    from workers.extract.cues import read_srt, read_vtt
    from workers.extract.subtitles import _running_text, _without_repeats

    text = "\n".join(lines)
    subtitles = read_vtt("WEBVTT\n\n" + text) if vtt else read_srt(text)
    running, places = _running_text(_without_repeats(subtitles.passages))
    covered = 0
    for place in places:
        assert covered <= place.start < place.end <= len(running)
        assert not running[covered : place.start].strip()
        assert 0 <= place.begin_seconds <= place.end_seconds
        covered = place.end
    assert covered == len(running)
    assert not CanonicalText(running).text.startswith(" ")


def test_lines_of_chinese_and_japanese_meet_without_a_space(tmp_path: Path, options: ReaderOptions) -> None:
    path = tmp_path / "original"
    path.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n房屋在𠮷\n祥里𡈽\n路、辻\U000e0100\nさん", "utf-8")
    assert extract(path, "a.vtt", options).text == "房屋在𠮷祥里𡈽路、辻\U000e0100さん"
