"""The server of a rerun: it answers model requests and tool calls out of a recording."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeVar, cast

import orjson

from turnspan.content.model import as_dict
from turnspan.wire.rerunning.environment import RerunEnvironment
from turnspan_records.access.fields import parsed
from turnspan_records.again.rerun.call_matcher import CallMatcher
from turnspan_records.again.rerun.divergence import Divergence
from turnspan_records.again.rerun.forks import RULES, Fork, ForkError
from turnspan_records.again.rerun.live import (
    LiveRequest,
    OriginError,
    passed_headers,
    sent_on,
)
from turnspan_records.again.rerun.recording import PlayableCall, SessionRecording
from turnspan_records.again.rerun.replies import JSON, WireReply, refusal, reply_of
from turnspan_records.again.rerun.report import RerunNote, RerunReport, UnaskedCall
from turnspan_records.again.rerun.requests import AskedRequest, RequestReader
from turnspan_records.again.rerun.tools import ToolMatcher

POLICIES: Final = ("stop", "nearest", "live")
"""What follows a divergence: an error, the nearest record's reply, or the provider's own."""
_LIVE: Final = "live"
_HEADER: Final = "x-turnspan-rerun"
_PIECE: Final = 65_536

S = TypeVar("S", bound="RerunServer")


class RerunServer:
    """Answers a program's requests on loopback out of a recording. A context manager.

    A model's request comes as the program sent it, with three headers more: ``x-turnspan-rerun``
    (the ``secret``; without it a request is refused), ``x-turnspan-origin`` (scheme, host and port
    that it was for) and ``x-turnspan-place`` (``RequestPlace.read``). A tool call is asked about by
    ``POST /turnspan/tool`` (``ToolMatcher.answer``), ``POST /turnspan/note`` takes a ``RerunNote``,
    and ``POST /turnspan/call`` (``RequestReader.expect``) the framework's call of a next request,
    which names it by ``x-turnspan-framework-call``.

    Args:
        recording, after, live_tools, timing: as for ``turnspan.rerun``.
        fork: from which call on requests are changed and go to a provider.
    """

    def __init__(
        self,
        recording: SessionRecording,
        *,
        after: str = "stop",
        live_tools: Collection[str] = (),
        timing: bool = False,
        fork: Fork | None = None,
    ) -> None:
        if after not in POLICIES:
            raise ValueError(f"{after!r} is no policy: write {', '.join(POLICIES)}")
        self.recording = recording
        self.secret = secrets.token_hex(16)
        self.rerun_id = secrets.token_hex(4)
        self._after = after
        self._timing = timing
        self._live_tools = bool(live_tools)
        self._fork = fork
        self._missing = recording.missing()
        self.reader = RequestReader()
        self._calls = CallMatcher(recording, self.reader)
        tools_after = "live" if fork is not None else after
        self.tools = ToolMatcher(recording, self._calls.places, live_tools, tools_after)
        self.questions: dict[str, Callable[[dict[str, Any]], dict[str, Any] | None]] = {
            "/turnspan/tool": self.tools.answer,
            "/turnspan/note": self.note,
            "/turnspan/call": self.reader.expect,
        }
        self._forked: list[str] = []
        """The messages of the forked request, once it was sent."""
        self._counted: Counter[str] = Counter()
        self._divergences: list[Divergence] = []
        self._notes: list[RerunNote] = []
        self._lock = threading.Lock()
        self._server = _RerunServing(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="turnspan-rerun", daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens, with its secret: the value of TURNSPAN_RERUN."""
        return f"http://127.0.0.1:{self._server.server_port}/{self.secret}"

    def environment(self, attempt: str = "") -> RerunEnvironment:
        """How a process is redirected to it.

        Args:
            attempt: a fork's attempt: what ``turnspan.inject`` returns inside it, as JSON.
        """
        network = self._after == _LIVE or self._fork is not None or self._live_tools
        of = self.recording.session_id
        return RerunEnvironment(self.url, self.rerun_id, of, network=network, attempt=attempt)

    def __enter__(self: S) -> S:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def report(self) -> RerunReport:
        """What was answered, and what not, until now."""
        with self._lock:
            counted, asked, tools = self._counted, self._calls.answered, self.tools
            return RerunReport(
                self.recording.session_id,
                self.rerun_id,
                sum(asked.values()) - counted["forked"],
                counted["live"],
                counted["made_vectors"],
                self._calls.ambiguous,
                len(self._calls.exchanged),
                dict(tools.answered),
                dict(tools.ran),
                tuple(
                    UnaskedCall(one.number, one.span_id, one.agent_name)
                    for one in self.recording.calls
                    if one.span_id not in asked
                ),
                (*self._divergences, *tools.divergences),
                tuple(self._notes),
            )

    # -- for the handler ------------------

    def note(self, told: dict[str, Any]) -> None:
        """Keep what the program's side reports."""
        with self._lock:
            note = RerunNote(str(told.get("kind") or ""), str(told.get("text") or ""))
            self._notes.append(note)

    def count(self, what: str) -> None:
        """An answer was ``live``, ``forked`` or ``made_vectors``."""
        with self._lock:
            self._counted[what] += 1

    def answer(
        self, asked: AskedRequest, origin: str, data: bytes, *, retries: bool
    ) -> tuple[str, WireReply] | LiveRequest:
        """The recorded call that answers a request and its reply, or what is to be sent on."""
        found = self._calls.match(asked, retries=retries)
        if self._fork is not None and not isinstance(found, Divergence):
            if found.span_id == self._fork.span_id:
                self._forked = asked.input_hashes
                self.count("forked")
                return self._changed(self._fork, asked, origin, first=True)
        elif self._fork is not None and self._forked:
            if self._is_of_fork(asked):
                return self._changed(self._fork, asked, origin, first=False)
            return LiveRequest(self._fork.origin(origin), asked.target, data)
        if isinstance(found, Divergence):
            self._diverged(found)
            nearest = self._calls.nearest(asked) if self._after == "nearest" else None
            if nearest is None:
                if self._after == "live":
                    return LiveRequest(origin, asked.target, data)
                return found.span_id or "none", refusal(asked, 409, str(found), "rerun_diverged")
            found = nearest
        return found.span_id, self._reply(found, asked)

    def _changed(
        self, fork: Fork, asked: AskedRequest, origin: str, *, first: bool
    ) -> tuple[str, WireReply] | LiveRequest:
        try:
            target, data = fork.changed(asked, first=first)
        except ForkError as error:
            self._diverged(Divergence(str(error)))
            return fork.span_id, refusal(asked, 409, str(error), "rerun_fork")
        return LiveRequest(fork.origin(origin), target, data)

    def _is_of_fork(self, asked: AskedRequest) -> bool:
        """Whether a request goes on with the forked conversation: it has the same beginning."""
        known = self.reader.messages
        said = [
            [one for one in hashes if one not in known or known[one].role not in RULES][:1]
            for hashes in (self._forked, asked.input_hashes)
        ]
        return said[0] == said[1]

    def _reply(self, call: PlayableCall, asked: AskedRequest) -> WireReply:
        reason = self._missing.get(call.span_id)
        if reason:
            where = f"call {call.number} cannot be answered: {reason}"
            found = Divergence.at(call, where)
            self._diverged(found)
            return refusal(asked, 409, str(found), "rerun_diverged")
        reply = reply_of(self.recording, call, asked, timing=self._timing)
        if reply.made:
            self.count("made_vectors")
        return reply

    def unknown(self, method: str, origin: str, target: str) -> bool:
        """Whether a request that asks no model goes live; else it is a divergence."""
        if self._after != "live":
            path = target.partition("?")[0]
            self._diverged(Divergence(f"{method} {origin}{path} is not recorded"))
        return self._after == "live"

    def _diverged(self, found: Divergence) -> None:
        with self._lock:
            self._divergences.append(found)


class _RerunServing(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: RerunServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _RerunHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may hang up whenever it likes."""


class _RerunHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    @property
    def _owner(self) -> RerunServer:
        return cast("_RerunServing", self.server).owner

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        data = self._body(headers)
        if not hmac.compare_digest(headers.get(_HEADER, "").encode(), self._owner.secret.encode()):
            self._send(
                403, {"error": {"message": "This server answers the rerun that started it."}}
            )
        elif self.path in self._owner.questions:
            self._own(data)
        else:
            self._model(headers, data)

    do_GET = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_POST

    def _body(self, headers: dict[str, str]) -> bytes:
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(headers.get("content-length") or 0))
        found: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            found.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(found)

    def _own(self, data: bytes) -> None:
        told = as_dict(parsed(data))
        if told is None:
            self._send(400, {"error": {"message": "The body is no JSON object."}})
        else:
            self._send(200, self._owner.questions[self.path](told) or {})

    def _model(self, headers: dict[str, str], data: bytes) -> None:
        owner, origin = self._owner, headers.get("x-turnspan-origin", "")
        asked = owner.reader.read(self.command, origin, self.path, headers, data)
        if asked is None:
            if owner.unknown(self.command, origin, self.path):
                self._go_live(LiveRequest(origin, self.path, data), headers)
            else:
                text = f"{self.command} {self.path} is not recorded."
                self._send(409, {"error": {"message": text, "type": "rerun_diverged"}})
            return
        found = owner.answer(asked, origin, data, retries="x-stainless-lang" not in headers)
        if isinstance(found, LiveRequest):
            self._go_live(found, headers)
        else:
            self._answer(*found)

    def _answer(self, span_id: str, reply: WireReply) -> None:
        first, rest = reply.waits
        time.sleep(first)
        if not reply.status:
            self.close_connection = True
            return
        streamed = reply.content_type != JSON
        self.send_response(reply.status)
        self.send_header("content-type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("x-turnspan-call", span_id)
        if not streamed:
            self._end(b"".join(reply.pieces))
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        pause = rest / max(1, len(reply.pieces) - 1)
        for at, piece in enumerate(reply.pieces):
            if at and pause:
                time.sleep(pause)
            self._chunk(piece, flush=bool(pause))
        self._chunk(b"")

    def _go_live(self, sent: LiveRequest, headers: dict[str, str]) -> None:
        self._owner.count("live")
        try:
            with sent_on(sent, self.command, headers) as answer:
                self.send_response(answer.status)
                for name, value in passed_headers(answer):
                    self.send_header(name, value)
                self.send_header("x-turnspan-call", _LIVE)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                while piece := answer.read1(_PIECE):  # as soon as it is there
                    self._chunk(piece, flush=True)
                self._chunk(b"")
        except OriginError as error:
            self._send(502, {"error": {"message": str(error), "type": "rerun_origin"}})

    def _chunk(self, data: bytes, *, flush: bool = False) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if flush or not data:
            self.wfile.flush()

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self.send_response(status)
        self.send_header("content-type", JSON)
        self.send_header("x-should-retry", "false")
        self._end(orjson.dumps(body))

    def _end(self, data: bytes) -> None:
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
