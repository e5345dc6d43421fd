import base64
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.documents import Attachment, Extracted
from pincite.failures import DocumentFailure, FailureCode
from tests.documents import mail_eml
from workers.extract import extract
from workers.extract.mail import MOST_ATTACHMENTS
from workers.extract.mail_headers import readable
from workers.extract.mail_parts import file_name
from workers.extract.options import ReaderOptions

PLAIN = "Content-Type: text/plain; charset=utf-8\n"
HTML = "Content-Type: text/html; charset=utf-8\n"


@pytest.fixture
def read(tmp_path: Path, options: ReaderOptions):  # type: ignore[no-untyped-def]
    def reader(message: str | bytes, name: str = "letter.eml") -> Extracted:
        path = tmp_path / "original"
        path.write_bytes(message if isinstance(message, bytes) else message.encode())
        return extract(path, name, options)

    return reader


def message(*parts: str, kind: str = "mixed", head: str = "Subject: Mast\n") -> str:
    body = "".join(f"--x\n{part}\n" for part in parts)
    return f"{head}MIME-Version: 1.0\nContent-Type: multipart/{kind}; boundary=x\n\n{body}--x--\n"


def failure(read, data: str | bytes) -> DocumentFailure:  # type: ignore[no-untyped-def]
    with pytest.raises(DocumentFailure) as raised:
        read(data)
    return raised.value


def test_the_head_stands_before_the_body(read) -> None:  # type: ignore[no-untyped-def]
    sender = "From: =?utf-8?q?J=C3=BCrg?= <j@example.org>\n"
    head = f"Received: from a\nTo: b@example.org\n{sender}Subject: The\n mast\nDate: today\n"
    found = read(f"{head}\nIt stands.\n")
    assert found.text == ("Subject: The mast\nFrom: Jürg <j@example.org>\nTo: b@example.org\nDate: today\n\nIt stands.")
    assert found.title == "The mast"
    assert not found.warnings
    assert not found.attachments


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("=?utf-8?B?w6TDtg==?= =?iso-8859-1?Q?=FC_x?=", "äöü x"),
        ("=?utf-8?B?w6TDtg?=", "äö"),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?nonsense?Q?=E4?=", "ä"),
        ("=?utf-8?B?*?=", ""),
        ("caf\udce9", "café"),
        ("\udcc3\udca9t\udcc3\udca9", "été"),
        ("a\x00b\r\n c", "ab c"),
    ],
)
def test_heads_of_any_encoding(raw: str, text: str) -> None:
    assert readable(raw) == text


def test_plain_text_is_preferred_where_it_says_as_much(read) -> None:  # type: ignore[no-untyped-def]
    html = f"{HTML}\n<p>See <a href='https://example.org/x'>the mast</a>.</p>"
    found = read(message(f"{PLAIN}\nSee the mast <https://example.org/x>.", html, kind="alternative"))
    assert found.text == "Subject: Mast\n\nSee the mast <https://example.org/x>."


def test_html_is_read_where_it_says_more(read) -> None:  # type: ignore[no-untyped-def]
    html = f"{HTML}\n<h2>Mast</h2><p>The mast stands on the north ridge.</p><table><tr><td>a<td>b</table>"
    found = read(message(f"{PLAIN}\nYour program shows no HTML.", html, kind="alternative"))
    assert found.text == "Subject: Mast\n\nMast\n\nThe mast stands on the north ridge.\n\n| a | b |"
    assert [found.text[b.start : b.end] for b in found.blocks] == found.text.split("\n\n")
    assert [warning.code for warning in found.warnings] == ["versions_differ"]


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf-8", "Stützmast".encode("cp1252"), "Stützmast"),
        ("iso-8859-1", "Stützmast".encode(), "Stützmast"),
        ("x-unknown", "Stützmast".encode("cp1252"), "Stützmast"),
        ("utf-7", b"St+APw-tzmast", "Stützmast"),
        ("big5", "高山".encode("big5"), "高山"),
    ],
)
@pytest.mark.parametrize("transfer", ["base64", "8bit"])
def test_texts_in_any_charset(read, charset: str, data: bytes, text: str, transfer: str) -> None:  # type: ignore[no-untyped-def]
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {transfer}\n\n"
    found = read(head.encode() + (base64.b64encode(data) if transfer == "base64" else data))
    assert found.text == f"Subject: x\n\n{text}"


@pytest.mark.parametrize("charset", ["utf-16le", "UTF-16"])
def test_wide_texts_travel_in_base64(read, charset: str) -> None:  # type: ignore[no-untyped-def]
    data = base64.b64encode("山上的塔".encode(charset)).decode()
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\n"
    assert read(head + data).text == "Subject: x\n\n山上的塔"


def test_what_fits_no_encoding_is_read_as_far_as_it_goes(read) -> None:  # type: ignore[no-untyped-def]
    data = b"The mast stands. " * 20 + bytes(range(1, 9)) * 12
    head = b"Subject: x\nContent-Type: text/plain; charset=utf-8\n\n"
    found = read(head + data + b"\xff")
    assert "The mast stands." in found.text
    assert [warning.code for warning in found.warnings] == ["undecodable"]


def test_flowed_lines_are_joined(read) -> None:  # type: ignore[no-untyped-def]
    head = "Subject: x\nContent-Type: text/plain; format=flowed\n\n"
    found = read(f"{head}The mast \nstands. \n\n> It was \n> asked.\nYes.\n-- \nAnna\n")
    assert found.text == "Subject: x\n\nThe mast stands.\n\n> It was asked.\nYes.\n-- \nAnna"


def test_attached_files_are_handed_on(read) -> None:  # type: ignore[no-untyped-def]
    inner = mail_eml("Inner text.", "About/ice", {"data.csv": b"a;b"})
    found = read(mail_eml("See below.", "Files", {"../Bericht über Eis.pdf": b"%PDF-", "forwarded.eml": inner}))
    assert [attachment.name for attachment in found.attachments] == ["-Bericht über Eis.pdf", "forwarded.eml"]
    assert found.attachments[0].content == b"%PDF-"
    forwarded = read(found.attachments[1].content)
    assert "Inner text." in forwarded.text
    assert forwarded.attachments == (Attachment("data.csv", b"a;b"),)
    assert "Inner" not in found.text


@pytest.mark.parametrize(
    "head",
    [
        'attachment; filename="Größe.pdf"',
        "attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.pdf",
        "attachment; filename*0*=iso-8859-1''Gr%F6; filename*1*=%DFe; filename*2=.pdf",
        'attachment; filename="=?utf-8?B?R3LDtsOfZS5wZGY=?="',
        "inline; filename=Größe.pdf",
    ],
)
def test_names_in_any_of_the_ways_that_they_are_encoded(read, head: str) -> None:  # type: ignore[no-untyped-def]
    found = read(message(f"{PLAIN}\nSee.", f"Content-Disposition: {head}\n\nx"))
    assert found.attachments == (Attachment("Größe.pdf", b"x"),)


def test_pictures_in_the_text_are_no_attachments_unless_they_have_a_name(read) -> None:  # type: ignore[no-untyped-def]
    heads = "Content-ID: <a>\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\nAAAA"
    picture = f"Content-Type: image/png{{}}\n{heads}"
    parts = [f"{HTML}\n<p>Look: <img src='cid:a'></p>", picture.format(""), picture.format("; name=scan.png")]
    found = read(message(*parts, kind="related"))
    assert found.text == "Subject: Mast\n\nLook:"
    assert found.attachments == (Attachment("scan.png", b"\0\0\0"),)


def test_signatures_and_reports(read) -> None:  # type: ignore[no-untyped-def]
    signature = "Content-Type: application/pgp-signature; name=signature.asc\n\nabc"
    report = "Content-Type: message/delivery-status\n\nReporting-MTA: dns; a\n\nStatus: 5.1.1\n"
    found = read(message(f"{PLAIN}\nSigned.", signature, report, kind="signed"))
    assert found.text == "Subject: Mast\n\nSigned.\n\nReporting-MTA: dns; a\n\nStatus: 5.1.1"
    assert not found.attachments


@pytest.mark.parametrize(
    "data",
    [
        message("Content-Type: application/pgp-encrypted\n\nVersion: 1", kind="encrypted"),
        "Subject: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\n\nMIIB",
        "Subject: x\n\n-----BEGIN PGP MESSAGE-----\n\nhIwDY32hYGCE8MkBA\n-----END PGP MESSAGE-----\n",
    ],
)
def test_encrypted_messages(read, data: str) -> None:  # type: ignore[no-untyped-def]
    assert failure(read, data).code is FailureCode.ENCRYPTED


def test_a_text_that_is_no_message_is_corrupt(read) -> None:  # type: ignore[no-untyped-def]
    assert failure(read, "404 not found\n").code is FailureCode.CORRUPT


@pytest.mark.parametrize("name", ["cur/1699.M1P2.host:2,S", "message"])
def test_a_message_is_known_by_its_head(read, name: str) -> None:  # type: ignore[no-untyped-def]
    assert read("Received: from a\n by b\nFrom: a@b\n\nHi\n", name).media_type == "message/rfc822"
    assert read("From: a@b\nSubject: notes\n\nHi\n", name).media_type == "text/plain"


def test_more_files_than_the_limit_are_left_out_and_counted(read) -> None:  # type: ignore[no-untyped-def]
    parts = [f"Content-Disposition: attachment; filename=f{n}.txt\n\nx" for n in range(MOST_ATTACHMENTS + 3)]
    found = read(message(f"{PLAIN}\nMany.", *parts))
    assert len(found.attachments) == MOST_ATTACHMENTS
    (warning,) = found.warnings
    assert warning.message.startswith("3 of 203")


@pytest.mark.parametrize("depth", [300, 5000])
def test_parts_nested_without_end(read, depth: int) -> None:  # type: ignore[no-untyped-def]
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
    try:
        found = read(f"Subject: x\n{head}\nDeep.\n")
    except DocumentFailure as raised:
        assert raised.code is FailureCode.TOO_LARGE  # noqa: PT017
    else:
        assert "Deep." in found.text


def test_messages_nested_deep_are_left_out(read) -> None:  # type: ignore[no-untyped-def]
    found = read("Subject: x\n" + "Content-Type: message/rfc822\n\nSubject: y\n" * 30 + "\nDeep.\n")
    assert not found.attachments
    assert [warning.code for warning in found.warnings] == ["attachments_left_out"]


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("a/b\\c.pdf", "a-b-c.pdf"),
        ("..", "attachment 3"),
        ("", "attachment 3"),
        ("\u202egpj.exe\n", "gpj.exe"),
        ("." * 3 + "x" * 400 + ".pdf", "x" * 146 + ".pdf"),
        ("///", "attachment 3"),
    ],
)
def test_names_are_safe(given_name: str, name: str) -> None:
    assert file_name(given_name, 3) == name


@given(name=st.text())
def test_any_name_is_one_part_of_a_path(name: str) -> None:
    safe = file_name(name, 1)
    assert safe.isprintable()
    assert not set(safe) & set("/\\")
    assert safe not in {"", ".", ".."}
    assert len(safe) <= 150
    safe.encode()


PIECES = st.sampled_from(
    [
        b"Subject: x",
        b"Content-Type: multipart/mixed; boundary=x",
        b"Content-Type: text/plain; charset=",
        b"--x",
        b"--x--",
        b"",
        b"Content-Transfer-Encoding: base64",
        b"Content-Transfer-Encoding: x-uuencode",
        b"begin 644 a",
        b"QUJ",
        b"\xff=?",
        b"Content-Disposition: attachment; filename*0*=utf-8''%E4; filename*1=b",
        b"Content-Type: message/rfc822",
        b" y",
        b":",
        b"Content-Type: text/html",
        b"<p>a<table>",
        b"Content-Type: message/delivery-status",
        b"Content-Type: ;;=",
        b"\x00",
        b"Content-Disposition: attachment; filename*=a'b",
        b'Content-Type: multipart/alternative; boundary="x',
    ]
)


@given(lines=st.lists(PIECES, max_size=25))
def test_any_arrangement_of_lines_is_read_or_fails_by_the_list(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    from pincite.settings import Settings
    from workers.reading import reader_options

    path = tmp_path_factory.getbasetemp() / "arranged"
    path.write_bytes(b"Subject: y\n" + b"\n".join(lines))
    try:
        found = extract(path, "a.eml", reader_options(Settings.model_validate({"data": path})))
    except DocumentFailure as raised:
        assert raised.code is not FailureCode.INTERNAL  # noqa: PT017
    else:
        for block in found.blocks:
            assert found.text[block.start : block.end].strip()


def test_a_message_keeps_its_own_heads_when_it_is_attached(read) -> None:  # type: ignore[no-untyped-def]
    inner = "Subject: =?utf-8?q?=C3=A4?=\nX-Long: " + "word " * 60 + "\n\nText.\n"
    found = read(message(f"{PLAIN}\nSee.", f"Content-Type: message/rfc822\n\n{inner}"))
    (attachment,) = found.attachments
    assert attachment.name == "ä.eml"
    assert attachment.content.decode() == inner


def test_a_nested_message_in_base64(read) -> None:  # type: ignore[no-untyped-def]
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Hello.")
    encoded = base64.encodebytes(inner.as_bytes()).decode()
    part = f"Content-Type: message/rfc822; name=i.eml\nContent-Transfer-Encoding: base64\n\n{encoded}"
    (attachment,) = read(message(f"{PLAIN}\nSee.", part)).attachments
    assert attachment == Attachment("i.eml", inner.as_bytes())
