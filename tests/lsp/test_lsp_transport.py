"""Framing: what is taken for a message in a stream of bytes, and how the stream is found again."""

from __future__ import annotations

import io

import pytest

from memory_recall.faces.lsp import transport
from memory_recall.faces.lsp.transport import Malformed, bodies, parse


def read(data: bytes) -> list[bytes | Malformed]:
    return list(bodies(io.BytesIO(data)))


def test_bodies_follow_their_length() -> None:
    assert read(b"Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\n[12]") == [b"{}", b"[12]"]


def test_headers_may_come_in_any_order_case_and_number() -> None:
    data = b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\ncontent-length:2\r\nX: y\r\n\r\n{}"
    assert read(data) == [b"{}"]


def test_a_body_is_counted_in_bytes() -> None:
    body = '{"a": "部署 🚀"}'.encode()
    assert read(b"Content-Length: %d\r\n\r\n%s" % (len(body), body)) == [body]


def test_bytes_between_frames_are_skipped() -> None:
    assert read(b"\r\n\r\nnoise\nContent-Length: x\r\n\r\nContent-Length: 2\r\n\r\n{}") == [b"{}"]


def test_the_stream_is_found_again_after_a_length_that_was_too_short() -> None:
    good = b"Content-Length: 2\r\n\r\n{}"
    assert read(b'Content-Length: 3\r\n\r\n{"a": 1}' + good) == [b'{"a', b"{}"]


def test_a_stream_that_ends_inside_a_body_is_over() -> None:
    assert read(b"Content-Length: 20\r\n\r\n{}") == []


def test_a_body_too_large_is_skipped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BODY_LIMIT", 10)
    found = read(b"Content-Length: 11\r\n\r\n" + b"x" * 11 + b"Content-Length: 2\r\n\r\n{}")
    assert isinstance(found[0], Malformed)
    assert found[1:] == [b"{}"]


def test_what_is_no_json_is_malformed() -> None:
    for body in (b"", b"{", b'{"a": nul}', b"\xff\xfe\xfd", b"[" * 200_000, b"9" * 5_000):
        assert isinstance(parse(body), Malformed), body[:20]


def test_a_lone_surrogate_and_infinity_still_become_one_valid_message() -> None:
    out = io.BytesIO()
    transport.write(out, {"text": "\ud83d", "number": float("inf")})
    assert parse(read(out.getvalue())[0]) == {"text": "\ufffd", "number": None}  # type: ignore[arg-type]
