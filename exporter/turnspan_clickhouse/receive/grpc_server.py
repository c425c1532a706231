"""OTLP over gRPC: the same intake as over HTTP, for exporters that send nothing else.

Messages are taken as bytes, one at a time, and only from those who may send: a method that gRPC
calls *unary* would be called when its message is there, however long and whoever sent it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]  # it has none
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from turnspan.runtime.guard import errors
from turnspan_clickhouse.receive.decoded import LOGS, METRICS, TRACES
from turnspan_clickhouse.receive.http_body import GRPC_CODES, PROTOBUF, success
from turnspan_clickhouse.receive.intake import RETRY_SECONDS, Held, Intake, IntakeRefusal

if TYPE_CHECKING:
    from turnspan_clickhouse.receive.settings import ReceiveSettings

_SERVICES = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": TRACES,
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export": LOGS,
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": METRICS,
}
_HEALTH = "/grpc.health.v1.Health/Check"
_SERVING, _NOT_SERVING = b"\x08\x01", b"\x08\x02"
"""A ``grpc.health.v1.HealthCheckResponse``."""
_END_SECONDS = 15.0
_READ_TOGETHER = 16
"""Messages that arrive at once. gRPC keeps what has come of a message where nobody can count it, so
these, each of the largest size, are the memory that senders can take up; others wait to be read."""
_CALLS = 1_000
"""Calls under way at once, waiting ones included."""
_STREAMS = 100
_IDLE_SECONDS, _ALIVE_SECONDS = 600, 60
"""A connection without a call is closed; one whose other side is gone is found out."""


class GrpcServer:
    """Serves OTLP on an address, ``host:port``, within an intake's limits."""

    def __init__(self, intake: Intake, address: str) -> None:
        self.address = address
        self._intake = intake
        self._server: Any = None
        self._calls = 0
        self._reading = asyncio.Semaphore(_READ_TOGETHER)

    async def start(self) -> None:
        """Begin to listen, in the running loop.

        Raises:
            RuntimeError: the address cannot be listened on.
        """
        import grpc  # type: ignore[import-untyped]  # it has none

        self._server = grpc.aio.server(options=_options(self._intake.settings))
        self._server.add_generic_rpc_handlers((self,))
        self._server.add_insecure_port(self.address)
        await self._server.start()

    async def stop(self) -> None:
        """Answer the calls under way, and end."""
        await self._server.stop(_END_SECONDS)

    def service(self, details: Any) -> Any:
        """The handler of a method, for which gRPC asks; None where it is not served."""
        import grpc

        method = details.method
        if method not in _SERVICES and method != _HEALTH:
            return None

        async def handle(_messages: Any, context: Any) -> bytes:
            return await self.call(method, context)

        library: Any = grpc
        return library.stream_unary_rpc_method_handler(handle)

    async def call(self, method: str, context: Any) -> bytes:
        """Answer one call."""
        answer, refused = b"", None
        try:
            answer = await self._answer(method, context)
        except IntakeRefusal as refusal:
            # A new one: gRPC keeps what is being handled when it ends a call, and with that the
            # frames that hold all that was decoded.
            refused = IntakeRefusal(refusal.status, str(refusal))
        except Exception as error:  # noqa: BLE001  whatever a call holds, the server goes on
            errors.record("receive.request", error)
            refused = IntakeRefusal(503, "an internal error; see the receiver's log")
        if refused is not None:
            await self._refuse(context, refused)
        elif method != _HEALTH:
            self._intake.receiver.answers["grpc OK"] += 1
        return answer

    async def _answer(self, method: str, context: Any) -> bytes:
        if method == _HEALTH:
            return _NOT_SERVING if self._intake.receiver.failure else _SERVING
        shown = [value for key, value in context.invocation_metadata() if key == "authorization"]
        if not self._intake.allowed(str(shown[0]) if shown else ""):
            raise IntakeRefusal(401, "a bearer token of this receiver is needed")
        if self._calls >= _CALLS:
            raise IntakeRefusal(429, "too many calls are under way")
        self._calls += 1
        try:
            return await self._take(_SERVICES[method], context)
        finally:
            self._calls -= 1

    async def _take(self, signal: str, context: Any) -> bytes:
        with self._intake.holding() as held:
            taken = await self._intake.take(
                signal, PROTOBUF, await self._message(context, held), "", held
            )
        return success(PROTOBUF, taken.refused, signal)

    async def _message(self, context: Any, held: Held) -> bytes:
        limit = self._intake.settings.read_timeout
        try:
            await asyncio.wait_for(self._reading.acquire(), limit)
        except asyncio.TimeoutError:
            raise IntakeRefusal(429, "too many messages arrive at once") from None
        try:
            message = await asyncio.wait_for(context.read(), limit)
        except asyncio.TimeoutError:
            raise IntakeRefusal(408, "the message took too long to arrive") from None
        finally:
            self._reading.release()
        if not isinstance(message, bytes):  # gRPC's mark of an end
            raise IntakeRefusal(400, "the call has no message")
        held.add(len(message))
        return message

    async def _refuse(self, context: Any, refusal: IntakeRefusal) -> None:
        import grpc

        message, number, library = str(refusal), GRPC_CODES[refusal.status], cast("Any", grpc)
        code = next(code for code in library.StatusCode if code.value[0] == number)
        self._intake.receiver.answers[f"grpc {code.name}"] += 1
        self._intake.notices.tell(
            f"grpc {code.name}", f"a call was answered {code.name}: {message}"
        )
        status = Status(code=number, message=message)
        if refusal.again:
            # Without it RESOURCE_EXHAUSTED means that it need not be tried again.
            again = RetryInfo()
            again.retry_delay.FromSeconds(RETRY_SECONDS)
            status.details.add().Pack(again)
        details = (("grpc-status-details-bin", status.SerializeToString()),)
        await context.abort(code, message, details)


def _options(settings: ReceiveSettings) -> list[tuple[str, int]]:
    return [
        # Of what is decompressed, too: gRPC stops at it.
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_allowed_incoming_connections", settings.max_connections),
        ("grpc.max_concurrent_streams", _STREAMS),
        ("grpc.max_metadata_size", 64 * 2**10),
        ("grpc.server_handshake_timeout_ms", int(settings.head_timeout * 1_000)),
        ("grpc.max_connection_idle_ms", _IDLE_SECONDS * 1_000),
        ("grpc.keepalive_time_ms", _ALIVE_SECONDS * 1_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        # Two receivers on one port would each get some of the calls, and neither would say so.
        ("grpc.so_reuseport", 0),
    ]
