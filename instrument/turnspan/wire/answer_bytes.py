"""From the bytes of an answer to its JSON: what packs them, and what frames the events of a stream.

Bytes are fed as they pass. What is kept of them is bounded: a whole answer by ``MAX_KEPT``, a
stream by its longest event.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from struct import Struct
from typing import Any, Final

import orjson

MAX_KEPT: Final = 32 * 2**20
"""Bytes of an answer, or of one event, that are kept to be read; longer ones are only measured."""

_PACKAGES: Final = {
    "zstd": (
        ("compression.zstd", "ZstdDecompressor"),
        ("backports.zstd", "ZstdDecompressor"),
        ("zstandard", "ZstdDecompressor"),
    ),
    "br": (("brotli", "Decompressor"), ("brotlicffi", "Decompressor")),
}
"""What undoes an encoding: the modules and classes that the clients themselves use."""


class TooLongError(Exception):
    """An event is longer than what is kept of one."""


class DamagedError(Exception):
    """The bytes are not what the answer says that they are: its reader fails as well."""


def _unpacker(encoding: str) -> Callable[[bytes], bytes] | None:
    """What undoes one encoding, piece by piece; ``None``: nothing here does."""
    failures: tuple[type[Exception], ...] = (zlib.error, EOFError)
    undo: Callable[[bytes], bytes] | None = None
    if encoding in ("gzip", "x-gzip"):
        undo = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress
    elif encoding == "deflate":
        undo = _Deflate().decompress
    for name, kind in _PACKAGES.get(encoding, ()):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        made = getattr(module, kind)()
        made = made.decompressobj() if hasattr(made, "decompressobj") else made
        undo = getattr(made, "decompress", None) or made.process
        failures = (*failures, getattr(module, "ZstdError", None) or module.error)
        break
    if undo is None:
        return None
    inner = undo

    def unpack(data: bytes) -> bytes:
        try:
            return inner(data)
        except failures as error:
            raise DamagedError(f"an answer packed in {encoding} is damaged: {error}") from error

    return unpack


class _Deflate:
    """``deflate``: with zlib's head, as the standard has it, or without, as some servers do."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj()
        self._begun = False

    def decompress(self, data: bytes) -> bytes:
        try:
            return self._inner.decompress(data)
        except zlib.error:
            if self._begun:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inner.decompress(data)
        finally:
            self._begun = True


class Events:
    """Takes the events out of a stream's bytes."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Any]:
        """The events that these bytes complete, parsed.

        Raises:
            TooLongError: one is.
            DamagedError: they frame none.
        """
        self._rest += data
        found = self._taken()
        if len(self._rest) > MAX_KEPT:
            self._rest = b""
            raise TooLongError
        return found

    def end(self) -> list[Any]:
        """What the end of the stream completes."""
        rest, self._rest = self._rest, b""
        return self._last(rest) if rest.strip() else []

    def _taken(self) -> list[Any]:
        raise NotImplementedError

    def _last(self, rest: bytes) -> list[Any]:
        return []


class JsonLines(Events):
    """A JSON document a line."""

    def _taken(self) -> list[Any]:
        *lines, self._rest = self._rest.split(b"\n")
        return parsed(lines)

    def _last(self, rest: bytes) -> list[Any]:
        return parsed([rest])


class ServerSentEvents(Events):
    """``text/event-stream``; of an event, what its ``data`` says (HTML, section 9.2.6)."""

    def __init__(self) -> None:
        super().__init__()
        self._data: list[bytes] = []

    def _taken(self) -> list[Any]:
        held = self._rest
        if held[-1:] == b"\r":  # maybe half of the line's end
            held, after = held[:-1], b"\r"
        else:
            after = b""
        if b"\r" in held:
            held = held.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = held.split(b"\n")
        self._rest = rest + after
        return parsed([text for line in lines for text in self._line(line)])

    def _line(self, line: bytes) -> list[bytes]:
        if line[:5] == b"data:":
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif not line and self._data:
            text, self._data = b"\n".join(self._data), []
            return [text]
        return []

    def _last(self, rest: bytes) -> list[Any]:
        texts = [text for line in (*rest.splitlines(), b"") for text in self._line(line)]
        return parsed(texts)

    def end(self) -> list[Any]:
        """Some servers end with an event that no blank line follows."""
        found = super().end()
        return found + parsed(self._line(b""))


class AwsEvents(Events):
    """``application/vnd.amazon.eventstream``: each event as ``{its type: what it says}``."""

    _HEAD: Final = Struct(">II")
    _LENGTH: Final = Struct(">H")
    _AROUND: Final = 16
    """Bytes of a message beside headers and payload: two lengths and two checksums."""

    def _taken(self) -> list[Any]:
        found: list[Any] = []
        while len(self._rest) >= self._AROUND:
            size, headers = self._HEAD.unpack_from(self._rest)
            if size < self._AROUND + headers:
                raise DamagedError("an event stream of AWS is damaged")
            if len(self._rest) < size:
                break
            message, self._rest = self._rest[:size], self._rest[size:]
            names = self._headers(message[12 : 12 + headers])
            kind = names.get(":event-type") or names.get(":exception-type") or "error"
            found += [{kind: value} for value in parsed([message[12 + headers : -4]])]
        return found

    def _headers(self, data: bytes) -> dict[str, str]:
        found: dict[str, str] = {}
        at = 0
        while at < len(data):
            end = at + 1 + data[at]
            name, kind = data[at + 1 : end].decode(), data[end]
            if kind != 7:  # a text; the service writes no other kinds
                break
            (size,) = self._LENGTH.unpack_from(data, end + 1)
            at = end + 3 + size
            found[name] = data[end + 3 : at].decode()
        return found


AWS_EVENTS: Final = "application/vnd.amazon.eventstream"
JSON_LINES: Final = "application/x-ndjson"

_FRAMES: Final = {
    "text/event-stream": ServerSentEvents,
    JSON_LINES: JsonLines,
    "application/jsonl": JsonLines,
    "application/stream+json": JsonLines,
    AWS_EVENTS: AwsEvents,
}


def events_of(content_type: str) -> Events | None:
    """What reads a stream of this type; ``None``: it is one document."""
    kind = _FRAMES.get(content_type.partition(";")[0].strip().lower())
    return None if kind is None else kind()


def parsed(texts: list[bytes]) -> list[Any]:
    """Those of these that are JSON."""
    found: list[Any] = []
    for text in texts:
        if not text.strip() or text.strip() == b"[DONE]":
            continue
        try:
            found.append(orjson.loads(text))
        except ValueError:  # a comment of the server's, or cut off
            continue
    return found


class WholeBody:
    """A document: its bytes as long as they are few, else their number and hash."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self._hash = hashlib.sha256()

    def feed(self, data: bytes) -> None:
        """Take bytes in."""
        self._size += len(data)
        self._hash.update(data)
        if self._size <= MAX_KEPT:
            self._pieces.append(data)
        else:
            self._pieces.clear()

    def value(self, content_type: str) -> Any:
        """The JSON, a text, or what is known of a file; ``None`` where there was nothing."""
        if not self._size:
            return None
        kind = content_type.partition(";")[0].strip().lower()
        data = b"".join(self._pieces)
        if data and not kind.startswith(("audio/", "image/", "video/")):
            try:
                return orjson.loads(data)
            except ValueError:
                if kind.startswith("text/"):
                    return data.decode("utf-8", "replace")
        return {"media_type": kind, "size": self._size, "sha256": self._hash.hexdigest()}


class AnswerBytes:
    """The bytes of an answer as they pass: unpacked, and read as events or as one document.

    Args:
        headers: The answer's, by names in lower case, without the encoding that the client undoes
            before the bytes come here.
        events: What takes events out of the bytes; ``None``: they are one document.
        unsaid: Whether they may be a stream of which the headers do not say so.
    """

    first = b""
    """The first bytes that came, unpacked."""
    unknown = ""
    """The encoding that nothing here undoes: nothing of the answer is read."""

    def __init__(
        self, headers: Mapping[str, str], events: Events | None, *, unsaid: bool = False
    ) -> None:
        self.events = events
        self._type = headers.get("content-type") or ""
        self._unsaid = unsaid and events is None
        self._whole = WholeBody()
        self._unpackers: list[Callable[[bytes], bytes]] = []
        names = (headers.get("content-encoding") or "").lower().split(",")
        for name in reversed([name.strip() for name in names]):  # the last was put on last
            if name in ("", "identity"):
                continue
            unpack = _unpacker(name)
            if unpack is None:
                self.unknown = name
                break
            self._unpackers.append(unpack)

    def feed(self, data: bytes) -> list[Any]:
        """The events that these bytes complete.

        Raises:
            TooLongError: an event is.
            DamagedError: they cannot be unpacked, or frame no events.
        """
        if self.unknown:
            return []
        for unpack in self._unpackers:
            data = unpack(data)
        if not self.first:
            self.first = data[:64]
            if self._unsaid and data.lstrip().startswith((b"data:", b"event:", b":")):
                self.events = ServerSentEvents()
        if self.events is not None:
            return self.events.feed(data)
        self._whole.feed(data)
        return []

    def document(self) -> Any:
        """What came, where it is no stream: as ``WholeBody.value``."""
        return self._whole.value(self._type)


class Chunks:
    """``Transfer-Encoding: chunked`` undone, and whether an answer is complete (RFC 9112)."""

    def __init__(self, chunked: bool, length: int | None) -> None:
        self._chunked = chunked
        self._left = length
        """Bytes to come of the answer, or of the chunk under way; ``None``: not known."""
        self._line = b""
        self.until_closed = not chunked and length is None
        """Whether nothing but the end of the connection says where it ends."""
        self.complete = not chunked and length == 0

    def feed(self, data: bytes) -> bytes:
        """What these bytes carry."""
        if not self._chunked:
            if self._left is not None:
                data = data[: self._left]
                self._left -= len(data)
                self.complete = not self._left
            return data
        found: list[bytes] = []
        while data and not self.complete:
            if self._left is None or not self._left:
                head, end, data = data.partition(b"\n")
                self._line += head
                if end:
                    self._begin_chunk()
            else:
                piece, data = data[: self._left], data[self._left :]
                self._left -= len(piece)
                found.append(piece)
        return b"".join(found)

    def _begin_chunk(self) -> None:
        line, self._line = self._line.partition(b";")[0].strip(), b""
        if not line:  # the end of the chunk before
            return
        self._left = int(line, 16)
        self.complete = not self._left
