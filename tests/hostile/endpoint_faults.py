"""What endpoints do wrong, as one table: each fault with what must come of it, for a target and for a judge.

An outcome is written `outcome: words of the cause`. Whatever a server does, the run goes on with the next row.
"""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from dataclasses import dataclass

from tests.hostile.faulty_server import End, Flood, Play, chunked, response, stream

SCORED = "scored"
BROKE = "the connection broke"
#: A reply of a good form that says nothing: what it must not be taken for.
_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Fault:
    """One fault. `short`: it shows only when the time for a reply is over, so that this time is short."""

    name: str
    play: Play
    target: str
    judge: str
    short: bool = False
    slow: bool = False


def _both(name: str, play: Play, words: str, *, slow: bool = False) -> Fault:
    """A fault that is the same for both: an error, with these words."""
    return Fault(name, play, f"target_error: {words}", f"judge_error: {words}", slow=slow)


def _timeout(name: str, play: Play) -> Fault:
    return Fault(name, play, "timeout: no answer within", "timeout: no answer within", short=True)


def _fine(name: str, play: Play) -> Fault:
    """Odd, and not wrong: it must not fail."""
    return Fault(name, play, SCORED, SCORED)


def _streamed(name: str, play: Play, target: str) -> Fault:
    """Server-sent events, which a judge's server should not send."""
    return Fault(name, play, target, "judge_error: the reply is not a chat completion")


def _status(status: str, words: str = "", body: bytes = b'{"error": {"message": "no luck"}}') -> Fault:
    code = status.split()[0]
    return _both(f"status {status}", lambda good: [response(body, status)], words or f"HTTP {code}: no luck")


def _event(document: object) -> bytes:
    return f"data: {json.dumps(document)}\n\n".encode()


_DROPS: list[bytes | float] = [b" ", 0.05] * 10_000
_PIECES = _event({"delta": "It is "}) + _event({"delta": "Par"})
_LOCATION = "Location: http://elsewhere.example/v1?key=hidden-away-1"

STATUSES = [
    *map(
        _status,
        ("400 Bad Request", "401 Unauthorized", "402 Payment Required", "403 Forbidden", "404 Not Found",
         "405 Method Not Allowed", "408 Request Timeout", "409 Conflict", "410 Gone", "413 Too Large", "418 Teapot",
         "422 Unprocessable", "425 Too Early", "429 Too Many Requests", "451 Unavailable", "500 Broken",
         "501 Not Implemented", "503 Busy", "504 Late", "520 Unknown", "529 Overloaded", "599 Last"),
    ),
    _status("502 Bad Gateway", "HTTP 502: Bad Gateway nginx", b"<html><h1>Bad Gateway</h1><hr>nginx</html>"),
    _status("500 Nested", "HTTP 500", b"[" * 100_000),
    _status("500 Control", "HTTP 500", b'{"error": "\x1b[31mred\x00"}'),
    _both("status 999", lambda good: [response(b"", "999 What")], "HTTP 999"),
    Fault("status 204", lambda good: [response(b"", "204 No Content", length="")],
          "target_error: the reply is not JSON", "judge_error: HTTP 204"),
    _both("301 to another host", lambda good: [response(b"", "301 Moved", headers=_LOCATION)],
          "HTTP 301: it leads to http://elsewhere.example/v1, which is not followed"),
    _both("307 to itself", lambda good: [response(b"", "307 Again", headers="Location: /v1")], "HTTP 307: it leads to"),
    _both("302 with a password", lambda good: [response(b"", "302 F", headers="Location: http://me:hidden@h.example/")],
          "HTTP 302: it leads to http://h.example/"),
    _both("302 to nowhere", lambda good: [response(b"", "302 Found")], "it leads to nowhere"),
    _both("304", lambda good: [response(b"", "304 Not Modified")], "HTTP 304"),
    _fine("100 before 200", lambda good: [b"HTTP/1.1 100 Continue\r\n\r\n", response(good)]),
    _timeout("100 without end", lambda good: [Flood(b"HTTP/1.1 100 Continue\r\n\r\n")]),
]  # fmt: skip

LINES = [
    _both("no HTTP at all", lambda good: [b"SSH-2.0-OpenSSH_9.6\r\n", End.CLOSE], BROKE),
    _both("a TLS alert", lambda good: [b"\x15\x03\x01\x00\x02\x02\x46", End.CLOSE], BROKE),
    _both("an unknown version", lambda good: [b"HTTP/9.9 200 OK\r\n\r\n", good, End.CLOSE], BROKE),
    _both("a status that is no number", lambda good: [response(good, "abc OK")], BROKE),
    _both("a header without a colon", lambda good: [response(good, headers="no colon")], BROKE),
    _both("a header with a NUL", lambda good: [response(good, headers="X-A: a\0b")], BROKE),
    _both("a header of 1 MB", lambda good: [response(good, headers="X-A: " + "a" * 1_000_000)], BROKE),
    _both("a status line of 1 MB", lambda good: [response(good, "200 " + "a" * 1_000_000)], BROKE),
    _both("headers without end", lambda good: [b"HTTP/1.1 200 OK\r\n", Flood(b"X-A: aaaaaaaaaaaa\r\n" * 9)], BROKE),
    _fine("a header that is no UTF-8", lambda good: [response(good, headers="X-A: \udcff\udcfe")]),
    _fine("100 cookies", lambda good: [response(good, headers="\r\n".join(["Set-Cookie: a=b"] * 100))]),
]  # fmt: skip

CUTS = [
    _both("closed at once", lambda good: [End.CLOSE], BROKE),
    _both("reset at once", lambda good: [End.RESET], BROKE),
    _both("cut in the status line", lambda good: [b"HTTP/1.", End.CLOSE], BROKE),
    _both("cut in the headers", lambda good: [b"HTTP/1.1 200 OK\r\nContent-Le", End.CLOSE], BROKE),
    _both("cut before the body", lambda good: [response(good)[: -len(good)], End.CLOSE], BROKE),
    _both("cut in the body", lambda good: [response(good)[:-3], End.CLOSE], BROKE),
    _both("reset in the body", lambda good: [response(good)[:-3], 0.01, End.RESET], BROKE),
    _both("cut in a chunk", lambda good: [chunked(good)[:-12], End.CLOSE], BROKE),
    _both("no last chunk", lambda good: [chunked(good, last=False), End.CLOSE], BROKE),
    _both("reset before the last chunk", lambda good: [chunked(good, last=False), 0.01, End.RESET],
          BROKE),
    _both("cut without a length", lambda good: [response(good[:-3], length=""), End.CLOSE], "the reply is not"),
    _timeout("nothing", lambda good: [End.HANG]),
    _timeout("nothing after the headers", lambda good: [response(good)[: -len(good)], End.HANG]),
    _timeout("nothing after half of the body", lambda good: [response(good)[:-3], End.HANG]),
    _timeout("drop by drop", lambda good: [response(b"", length=1 << 20), *_DROPS]),
]  # fmt: skip

LENGTHS = [
    _both("a length too short", lambda good: [response(good, length=len(good) - 3), End.CLOSE], "the"),
    _both("a length too long", lambda good: [response(good, length=len(good) + 9), End.CLOSE], BROKE),
    _both("a negative length", lambda good: [response(good, length=-5), End.CLOSE], BROKE),
    _both("a length that is no number", lambda good: [response(good, length="many"), End.CLOSE], BROKE),
    _both("a length of 31 digits", lambda good: [response(good, length=10**30), End.CLOSE], BROKE),
    _both("two lengths", lambda good: [response(good, headers="Content-Length: 7"), End.CLOSE], BROKE),
    _both("a length of 0", lambda good: [response(good, length=0), End.CLOSE], "the"),
    _both("a chunk's size that is no number", lambda good: [chunked()[:-5] + b"zz\r\n" + good, End.CLOSE],
          BROKE),
    _both("a chunk's size below 0", lambda good: [chunked()[:-5] + b"-5\r\n" + good, End.CLOSE], BROKE),
    _both("a chunk's size of 31 digits", lambda good: [chunked()[:-5] + b"1" * 31 + b"\r\n" + good, End.CLOSE],
          BROKE),
    _fine("no length", lambda good: [response(good, length=""), End.CLOSE]),
    _fine("chunks of one byte", lambda good: [chunked(*(bytes([byte]) for byte in good))]),
]  # fmt: skip


def _charset(name: str, words: str = "which is not a text encoding") -> Fault:
    play: Play = lambda good: [response(good, content_type=f"application/json; charset={name}")]  # noqa: E731
    return _both(f"charset={name}", play, words)


def _zipped(name: str, body: bytes, words: str, encoding: str = "gzip") -> Fault:
    return _both(name, lambda good: [response(body, headers=f"Content-Encoding: {encoding}")], words)


@functools.cache
def _bomb() -> bytes:
    """1 GB of spaces, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(b" " * (1 << 20)) for _ in range(1024)) + packer.flush()


ENCODINGS = [
    *map(_charset, ("hex", "zlib_codec", "rot13", "base64", "bz2", "undefined", "idna")),
    _charset("utf-16", "the reply is not"),
    _fine("a charset that nobody knows", lambda good: [response(good, content_type="text/json; charset=klingon")]),
    _fine("latin-1", lambda good: [response(good, content_type="application/json; charset=latin-1")]),
    _fine("a byte order mark", lambda good: [response(b"\xef\xbb\xbf" + good)]),
    _fine("UTF-16, and said so", lambda good: [response(good.decode().encode("utf-16"),
                                                       content_type="application/json; charset=utf-16")]),
    _zipped("gzip that is none", b"plain", "the reply is not gzip"),
    _zipped("half of a gzip", gzip.compress(b'{"answer": "Paris"}' * 9)[:-12], "the compressed reply is not whole"),
    _zipped("deflate that is none", b"plain", "the reply is not deflate", "deflate"),
    _zipped("an encoding that was not asked for", b"\x0b", "encoded as 'br', which was not asked for", "br"),
    _zipped("two encodings", gzip.compress(gzip.compress(b"x")), "which was not asked for", "gzip, gzip"),
    _zipped("a bomb: 20 kB that are 20 MB", gzip.compress(bytes(20 << 20)), "the reply is too long"),
    _zipped("a bomb of deflate", zlib.compress(bytes(20 << 20)), "the reply is too long", "deflate"),
    _both("a bomb: 1 MB that is 1 GB", lambda good: [response(_bomb(), headers="Content-Encoding: gzip")],
          "the reply is too long", slow=True),
    _fine("gzip", lambda good: [response(gzip.compress(good), headers="Content-Encoding: gzip")]),
    _fine("gzip in two parts", lambda good: [response(gzip.compress(good), headers="Content-Encoding: gzip")[:-9], 0.01,
                                             gzip.compress(good)[-9:]]),
    _fine("deflate", lambda good: [response(zlib.compress(good), headers="Content-Encoding: deflate")]),
    _fine("deflate without a header",
          lambda good: [response(zlib.compress(good)[2:-4], headers="Content-Encoding: deflate")]),
]  # fmt: skip


def _body(name: str, body: bytes, target: str, judge: str = "the reply is not a chat completion") -> Fault:
    return Fault(name, lambda good: [response(body)], f"target_error: {target}", f"judge_error: {judge}")


BODIES = [
    _body("an empty body", b"", "the reply is not JSON"),
    _body("white space", b" \n" * 1000, "the reply is not JSON"),
    _body("HTML", b"<html><body>Sign in</body></html>", "the reply is HTML"),
    _body("JSON that ends early", b'{"answer": "Par', "the reply is not JSON"),
    _body("two documents", b'{"answer": "Paris"}{"answer": "Rome"}', "the reply is not JSON"),
    _body("nested 100,000 deep", b'{"answer": ' + b"[" * 100_000, "the reply is not JSON"),
    _body("nested 900 deep", b'{"answer": ' + b"[" * 900 + b"]" * 900 + b"}", "'answer' in the reply is list"),
    _body("nested where there is no answer", b'{"reply": ' + b'{"a":' * 900 + b"1" + b"}" * 901, "the reply"),
    _body("an integer of 5,000 digits", b'{"answer": ' + b"1" * 5000 + b"}", "the reply is not JSON"),
    _body("null", b"null", "there is no 'answer'"),
    _body("a number", b"42", "there is no 'answer'"),
    _body("a list", b'["Paris"]', "there is no 'answer'"),
    _body("an answer of null", b'{"answer": null, "choices": null}', "there is no 'answer'"),
    _body("an answer that is a number", b'{"answer": 1e400, "choices": [{"message": 5}]}', "is float, not a text"),
    _body("an answer that is a list", b'{"answer": ["a"], "choices": {}}', "is list, not a text"),
    _body("an answer that is an object", b'{"answer": {"a": 1}, "choices": []}', "is dict, not a text"),
    _body("an error, and status 200", b'{"error": {"message": "overloaded"}}', "there is no 'answer'"),
    Fault("a body without end", lambda good: [response(b"", length=1 << 40), Flood(b" " * 65536)],
          "target_error: the reply is too long", "judge_error: the reply is too long"),
    Fault("chunks without end", lambda good: [chunked(last=False), Flood(b"10000\r\n" + b"[" * 65536 + b"\r\n")],
          "target_error: the reply is too long", "judge_error: the reply is too long"),
    _fine("half a character", lambda good: [response(good.replace(b"Paris", b"Paris\\ud800"))]),
    _fine("bytes that are no UTF-8", lambda good: [response(good.replace(b'"x"', b'"\xff\xfe"'))]),
    _fine("log-probabilities of 10**400", lambda good: [response(good.replace(
        b'"finish_reason"', b'"logprobs": {"content": [{"token": "A", "logprob": %d}]}, "finish_reason"' % 10**400))]),
    _fine("tokens of 10**400", lambda good: [response(good.replace(b": 100,", b": %d," % 10**400))]),
    Fault("a completion that broke off", lambda good: [response(good.replace(b'"stop"', b'"error"'))],
          SCORED, "judge_error: the reply is not a chat completion"),
]  # fmt: skip

TYPES = [
    _fine("no content type", lambda good: [response(good, content_type=None)]),
    _fine("text/html", lambda good: [response(good, content_type="text/html")]),
    _fine("image/png", lambda good: [response(good, content_type="image/png")]),
    _fine("no type at all", lambda good: [response(good, content_type=";;; charset")]),
    _fine("a type that is no ASCII", lambda good: [response(good, content_type="\udcff/\udcfe; charset=\udcff")]),
    Fault("text/plain", lambda good: [response(b"Paris", content_type="text/plain")],
          SCORED, "judge_error: the reply is not a chat completion: Paris"),
]  # fmt: skip

_LONG_LINE = b"data: " + json.dumps({"delta": "x" * (600 << 10)}).encode() + b"\n\n"
STREAMS = [
    _streamed("a line of 600 KiB", lambda good: [stream(_PIECES, _LONG_LINE), End.CLOSE],
              "target_error: a line of the stream is longer than 512 KiB"),
    _streamed("a line of 600 KiB in chunks",
              lambda good: [chunked(_PIECES, _LONG_LINE, content_type="text/event-stream")],
              "target_error: a line of the stream is longer than 512 KiB"),
    Fault("a line without end", lambda good: [stream(b"data: "), Flood(b"x" * 65536)],
          "target_error: a line of the stream is longer than 512 KiB", "judge_error: the reply is too long"),
    Fault("events without end", lambda good: [stream(), Flood(_event({"delta": "x" * 60}) * 1000)],
          "target_error: the reply is too long", "judge_error: the reply is too long"),
    Fault("comments without end", lambda good: [stream(), Flood(b": still there\n\n" * 1000)],
          "target_error: the reply is too long", "judge_error: the reply is too long"),
    _streamed("nested 100,000 deep in a stream", lambda good: [stream(b"data: " + b"[" * 100_000 + b"\n\n"), End.CLOSE],
              "target_error: an event of the stream is nested too deeply"),
    _streamed("nested after pieces",
              lambda good: [stream(_PIECES, b'data: {"a": ' + b"[" * 100_000 + b"\n\n"), End.CLOSE],
              "target_error: an event of the stream is nested too deeply"),
    _both("charset=hex in a stream", lambda good: [chunked(_PIECES, content_type="text/event-stream; charset=hex")],
          "which is not a text encoding"),
    _streamed("an error after pieces",
              lambda good: [stream(_PIECES, _event({"error": {"message": "crashed"}})), End.CLOSE],
              "target_error: the stream ended with an error: crashed"),
    _streamed("an error event", lambda good: [stream(_PIECES, b"event: error\ndata: out of memory\n\n"), End.CLOSE],
              "target_error: the stream ended with an error: out of memory"),
    _streamed("a document of type error",
              lambda good: [stream(_PIECES, _event({"type": "error", "message": "late"})), End.CLOSE],
              "target_error: the stream ended with an error: late"),
    _streamed("an error and [DONE]", lambda good: [stream(_PIECES, _event({"error": "crashed"}), _DONE), End.CLOSE],
              "target_error: the stream ended with an error: crashed"),
    _streamed("cut in an event", lambda good: [stream(_PIECES, b'data: {"delta": "is, I th'), End.CLOSE],
              "target_error: the stream ended in the middle of an event"),
    _streamed("cut in an event of bare text", lambda good: [stream(b"data: It is\n\ndata:  Par"), End.CLOSE],
              "target_error: the stream ended in the middle of an event"),
    _streamed("cut in the first event", lambda good: [stream(b'data: {"delta": "It'), End.CLOSE],
              "target_error: the stream ended in the middle of an event"),
    Fault("cut in a chunk of a stream",
          lambda good: [chunked(_PIECES, b'data: {"de', content_type="text/event-stream", last=False), End.CLOSE],
          f"target_error: {BROKE}", f"judge_error: {BROKE}"),
    Fault("reset in a stream", lambda good: [stream(_PIECES), 0.05, End.RESET],
          f"target_error: {BROKE}", f"judge_error: {BROKE}"),
    _streamed("a first event that is no JSON",
              lambda good: [stream(b"data: upstream timed out\n\n", _PIECES), End.CLOSE],
              "target_error: an event of the stream is not JSON: upstream timed out"),
    _streamed("an event that is no JSON", lambda good: [stream(_PIECES, b"data: upstream timed out\n\n"), End.CLOSE],
              "target_error: an event of the stream is not JSON: upstream timed out"),
    _streamed("nothing but broken JSON", lambda good: [stream(b'data: {"delta": "Par}\n\n'), End.CLOSE],
              "target_error: an event of the stream is not JSON"),
    _streamed("HTML in an event", lambda good: [stream(b"data: <html>Bad Gateway</html>\n\n"), End.CLOSE],
              "target_error: an event of the stream is HTML"),
    _streamed("no pieces", lambda good: [stream(_event({"events": []}), _DONE), End.CLOSE],
              "target_error: there is no 'answer'"),
    _streamed("nothing but [DONE]", lambda good: [stream(_DONE), End.CLOSE], "target_error: there is no 'answer'"),
    _streamed("no event", lambda good: [stream(), End.CLOSE], "target_error: the reply is not JSON"),
    _streamed("pieces that are numbers", lambda good: [stream(_event({"delta": 5})), End.CLOSE],
              "target_error: there is no 'answer'"),
    _both("503 as a stream",
          lambda good: [response(_event({"error": "busy"}), "503 Busy", content_type="text/event-stream")], "HTTP 503"),
    _streamed("lines that end with CR", lambda good: [stream(_PIECES.replace(b"\n", b"\r")), End.CLOSE], SCORED),
    _streamed("lines that end with CR LF", lambda good: [stream(_PIECES.replace(b"\n", b"\r\n")), End.CLOSE], SCORED),
    _streamed("byte by byte", lambda good: [chunked(*(bytes([byte]) for byte in _PIECES),
                                                    content_type="text/event-stream")], SCORED),
    _streamed("a stream with a byte order mark", lambda good: [stream(b"\xef\xbb\xbf" + _PIECES), End.CLOSE], SCORED),
    _streamed("an error of null", lambda good: [stream(_PIECES, _event({"error": None})), End.CLOSE], SCORED),
    _streamed("a last event without an empty line", lambda good: [stream(_PIECES[:-2]), End.CLOSE], SCORED),
]  # fmt: skip

FAULTS = [*STATUSES, *LINES, *CUTS, *LENGTHS, *ENCODINGS, *BODIES, *TYPES, *STREAMS]
