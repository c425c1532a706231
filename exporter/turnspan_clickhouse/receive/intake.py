"""What all ways into the receiver have in common: who may send, how much at once, how it is
read."""

from __future__ import annotations

import asyncio
import hmac
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from turnspan.runtime.errors import TurnspanError
from turnspan.runtime.guard import logger
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.foreign_dialects import CODING_SCOPES
from turnspan_clickhouse.receive.claude_code_events import ClaudeCodeEvents
from turnspan_clickhouse.receive.coding_agent_events import CodingAgentEvents
from turnspan_clickhouse.receive.decoded import (
    LOGS,
    METRICS,
    TRACES,
    Decoded,
    InternCache,
    MalformedOtlpError,
    Received,
)
from turnspan_clickhouse.receive.http_body import (
    JSON,
    PROTOBUF,
    BodyTooLargeError,
    bearer_token,
    decompressed,
)
from turnspan_clickhouse.receive.landing_request import Taken
from turnspan_clickhouse.receive.log_events import as_telemetry
from turnspan_clickhouse.receive.otlp_json import decode_json
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf
from turnspan_clickhouse.receive.receiver import Receiver
from turnspan_clickhouse.receive.settings import follows_transcripts

PAUSE_SECONDS = 60.0


class Notices:
    """Logs warnings, each kind at most once in ``PAUSE_SECONDS``; the next line says how many more
    there were."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kinds: dict[str, tuple[float, int]] = {}

    def tell(self, kind: str, message: str) -> None:
        """Say that something of this kind happened."""
        now = self._clock()
        with self._lock:
            until, silent = self._kinds.get(kind, (0.0, 0))
            if now < until:
                self._kinds[kind] = (until, silent + 1)
                return
            self._kinds[kind] = (now + PAUSE_SECONDS, 0)
        more = f" ({silent:,} more since the last line)" if silent else ""
        logger.warning("Turnspan receive: %s%s", message, more)


RETRY_SECONDS = 5
"""After how long a sender shall come again that is told to."""
_DECODERS = {PROTOBUF: decode_protobuf, JSON: decode_json}
_POLL_SECONDS = 0.05
_LARGE = 256 * 2**10
"""Bytes of a body, as sent, of more than which others do not wait for it."""


class _Decoder:
    """A thread, and the texts that bodies it has read have in common."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="turnspan-decoder")
        self.shared = {PROTOBUF: InternCache(), JSON: InternCache()}


class TooMuchError(TurnspanError):
    """More is under way than may be: it may be sent again later."""


class IntakeRefusal(TurnspanError):
    """A request is answered with an error, of this HTTP status."""

    def __init__(self, status: int, message: str, *, allow: str = "POST") -> None:
        super().__init__(message)
        self.status = status
        self.allow = allow

    @property
    def again(self) -> bool:
        """Whether it may be sent again as it is."""
        return self.status in (429, 503)


class Intake:
    """Gives requests to a receiver; with ``tokens``, only those of who shows one of them."""

    def __init__(self, receiver: Receiver, tokens: Sequence[str] = ()) -> None:
        self.receiver = receiver
        self.settings = receiver.settings
        self.notices = Notices()
        self.waiting = 0
        """Bytes of the requests under way, as sent and decompressed."""
        self._agents = (ClaudeCodeEvents(), CodingAgentEvents())
        self._tokens = [token.encode() for token in tokens]
        # One thread for large bodies, which take seconds, and one for all others, which shall not
        # wait for them. More would only wait for each other's interpreter lock.
        self._decoders = {large: _Decoder() for large in (True, False)}

    def allowed(self, authorization: str) -> bool:
        """Whether an ``Authorization`` header is that of a sender whose records are taken."""
        shown = bearer_token(authorization).encode()
        return not self._tokens or any(hmac.compare_digest(shown, token) for token in self._tokens)

    @contextmanager
    def holding(self) -> Generator[Held]:
        """The account of one request's bytes; what cannot be taken is an ``IntakeRefusal``."""
        held = Held(self)
        try:
            yield held
        except MalformedOtlpError as error:
            raise IntakeRefusal(400, str(error)) from error
        except BodyTooLargeError:
            limit, spans = self.settings.max_request_bytes, self.settings.max_request_spans
            text = f"a request may have {limit:,} bytes, also decompressed, and {spans:,} spans"
            raise IntakeRefusal(413, text) from None
        except TooMuchError as error:
            raise IntakeRefusal(429, str(error)) from None
        except SpoolError as error:
            raise IntakeRefusal(503, str(error)) from error
        finally:
            held.release()

    async def take(self, signal: str, kind: str, body: bytes, encoding: str, held: Held) -> Taken:
        """Read a body and have its records written; when this returns they are in the spool.

        Raises:
            MalformedError: it is not OTLP.
            TooLargeError: it is larger than a request may be.
            TooMuchError: too much is under way.
            SpoolError: the spool cannot be written now.
        """
        loop = asyncio.get_running_loop()
        decoded = await loop.run_in_executor(
            self._decoders[len(body) > _LARGE].thread, self._decode, signal, kind, body, encoding
        )
        del body
        if len(decoded.spans) > self.settings.max_request_spans:
            raise BodyTooLargeError
        held.add(decoded.size)
        patience = loop.time() + self.settings.event_patience
        while loop.time() < patience and self.receiver.waits_for_events(decoded):
            await asyncio.sleep(_POLL_SECONDS)
        taken = await asyncio.wrap_future(self.receiver.submit(decoded))
        what = {TRACES: "spans", LOGS: "log records", METRICS: "data points"}[signal]
        if signal == METRICS and sum(taken.refused.values()) == decoded.left_out.total():
            return taken  # as of each export: the figures have it
        for why, number in taken.refused.items():
            self.notices.tell(why, f"{number:,} {what} refused: {why}")
        return taken

    def close(self) -> None:
        """Nothing more comes."""
        for decoder in self._decoders.values():
            decoder.thread.shutdown()

    def _decode(self, signal: str, kind: str, body: bytes, encoding: str) -> Decoded:
        plain = decompressed(body, encoding, self.settings.max_request_bytes)
        try:
            shared = self._decoders[len(body) > _LARGE].shared[kind]
            decoded = _DECODERS[kind](plain, shared, signal)
            for events in self._agents:
                events.add_spans(decoded)
            spans = decoded.spans
            coding = [at for at, one in enumerate(spans) if _is_coding(one)]
            if coding and self._has_transcripts():
                decoded.completes_transcripts = True
                for at in coding:
                    spans[at] = replace(spans[at], span=as_telemetry(spans[at].span))
            return decoded
        except MalformedOtlpError as error:
            why = str(error)
        # A new one, raised here: the frames of that one hold what was decoded, thirty times the
        # body, until the loop comes to it, and the next body is being decoded meanwhile.
        raise MalformedOtlpError(why)

    def _has_transcripts(self) -> bool:
        chosen = self.settings.transcripts
        return follows_transcripts(self.receiver.spool.folder) if chosen is None else chosen


def _is_coding(one: Received) -> bool:
    scope = one.span.instrumentation_scope
    return scope is not None and scope.name in CODING_SCOPES


class Held:
    """What one request adds to the bytes under way."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._size = 0

    def add(self, size: int) -> None:
        """Take up more.

        Raises:
            TooMuchError: that is more than may be under way.
        """
        self._size += size
        self._intake.waiting += size
        if self._intake.waiting > self._intake.settings.max_waiting_bytes:
            raise TooMuchError("too much is under way; come back later")

    def release(self) -> None:
        """The request is over."""
        self._intake.waiting -= self._size
