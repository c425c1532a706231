"""Instrumentation of the ``mcp`` client: a tool that a server executes is an executed tool.

One call is one span, whoever makes it:

- A recorded tool (``@turnspan.tool``) that does nothing but hand the call on, with the same tool
  name or the same arguments, *is* that call: no second span is made. Its own is enriched with what
  is known here, takes the server's tool name and arguments where it is a general dispatcher
  (``call(name, arguments)``), and failed where the server says so.
- ``Client.call_tool`` of mcp 2.x sends ``ClientSession.call_tool`` as often as the server asks for
  input; that is one call.
- mcp 2.x makes a span of its own for each request: within a call of ours it gets ours instead.
"""

from __future__ import annotations

import contextlib
import inspect
import time
from importlib import import_module, util
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanKind, Tracer

from turnspan import config, semconv
from turnspan.content.snapshot import freeze
from turnspan.metrics.measurements import McpCallEnded
from turnspan.patching.frame import ToolFrame
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing.context import TOOL_KEY, active_turn
from turnspan.tracing.recording import detach
from turnspan.tracing.state import current as current_state
from turnspan.tracing.tool_answers import ToolAnswers
from turnspan.tracing.tool_recording import OpenTool, ToolRecording, inside_tool, open_tool

_META = guard("mcp.context")
_DESCRIBE = guard("mcp.describe")
_ENTER = guard("mcp.enter")
_LEFT = guard("mcp.leave")
_MEASURE = guard("mcp.measure")
_OWN_SPAN = guard("mcp.own_span")
_OWN_CONTEXT = guard("mcp.own_context")

_CALL: Final = otel_context.create_key("turnspan-mcp-call")
_TOOLS_CALL: Final = "tools/call"
_SESSION: Final = "mcp.client.session"
_DISPATCHER: Final = "mcp.shared.jsonrpc_dispatcher"
_MAX_MESSAGE: Final = 500
_TOOL_ERROR: Final = "tool_error"
"""The conventions' name for a result that says that the tool failed."""


class McpCall:
    """A call under way: a tool of its own, or the one around it that hands it on."""

    __slots__ = (
        "_began",
        "_metrics",
        "_token",
        "_version",
        "name",
        "recording",
        "tool",
        "under_way",
    )

    def __init__(self, name: str, tool: OpenTool, recording: ToolRecording | None) -> None:
        self.name = name
        self.tool = tool
        self.recording = recording
        """``None`` where the tool around it is recorded already."""
        self.under_way = False
        self._token: object | None = None
        self._metrics = current_state(otel_context.get_current()).metrics
        self._version = ""
        self._began = time.perf_counter()

    def enter(self, context: Context) -> None:
        """Make the call, and the span of its tool, current."""
        inside = otel_context.set_value(_CALL, self, inside_tool(self.tool, context))
        self._token = otel_context.attach(inside)
        self.under_way = True

    def leave(self) -> None:
        """Undo ``enter``."""
        self.under_way = False
        token, self._token = self._token, None
        detach(token)

    def describe(self, session: Any) -> None:
        """Say what the session knows."""
        version = getattr(session, "protocol_version", None)
        if isinstance(version, str) and version:
            self._version = version
            self.tool.span.set_attribute(semconv.MCP_PROTOCOL_VERSION, version)
        request_id = getattr(session, "_request_id", None)  # 1.x; 2.x says it to its own span
        if isinstance(request_id, int):
            self.tool.span.set_attribute(semconv.JSONRPC_REQUEST_ID, str(request_id))

    def answered(self, result: Any) -> None:
        """The server answered, maybe with an error of the tool's."""
        self.tool.failure = failure_of(result)
        self._measure(_TOOL_ERROR if self.tool.failure else "", "")
        if self.recording is not None:
            self.recording.succeeded(result)

    def failed(self, error: BaseException) -> None:
        """The call raised."""
        code = "" if is_abort(error) else error_code(error)
        self._measure("" if is_abort(error) else code or type(error).__qualname__, code)
        if code:
            self.tool.span.set_attribute(semconv.RPC_RESPONSE_STATUS_CODE, code)
        if self.recording is not None:
            self.recording.error_type = code
            self.recording.failed(error)

    def _measure(self, error_type: str, code: str) -> None:
        with _MEASURE:
            if self._metrics.enabled():
                attributes = {
                    semconv.MCP_METHOD_NAME: _TOOLS_CALL,
                    semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
                    semconv.TOOL_NAME: self.name,
                    semconv.MCP_PROTOCOL_VERSION: self._version,
                    semconv.ERROR_TYPE: error_type,
                    semconv.RPC_RESPONSE_STATUS_CODE: code,
                }
                span = self.tool.span.get_span_context()
                took = time.perf_counter() - self._began
                self._metrics.record(McpCallEnded(attributes, took, span))


class McpSdk(ToolFrame[McpCall]):
    """The wrappers of one instrumentation."""

    place = "mcp"

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.enabled = True
        self.takes_meta = False
        """Whether ``call_tool`` takes what is to travel in ``params._meta`` (mcp >= 1.19)."""

    def _begin(self, session: Any, args: Args, kwargs: Kwargs) -> tuple[McpCall, Kwargs] | None:
        from opentelemetry.instrumentation.utils import is_instrumentation_enabled

        if not self.enabled or not config.active().enabled or not is_instrumentation_enabled():
            return None
        name: Any = args[0] if args else kwargs.get("name")
        if not isinstance(name, str):
            return None
        context = otel_context.get_current()
        running = context.get(_CALL)
        if isinstance(running, McpCall) and running.under_way and running.name == name:
            with _DESCRIBE:
                running.describe(session)
            return None
        arguments = freeze(args[1] if len(args) > 1 else kwargs.get("arguments"))
        call = _within(context, name, arguments) or self._open(context, name, arguments)
        with _DESCRIBE:
            call.describe(session)
        with _ENTER:
            call.enter(context)
        if self.takes_meta:
            with _META:
                kwargs = _with_context(kwargs)
        return call, kwargs

    def _in_rerun(self, wrapped: Function, answers: ToolAnswers) -> Any:
        return answers.result(wrapped, import_module("mcp.types").CallToolResult)

    def _failed(self, call: McpCall, owner: Any, error: BaseException) -> None:
        with _LEFT:
            call.leave()
        call.failed(error)

    def _answered(self, call: McpCall, result: Any) -> None:
        with _LEFT:
            call.leave()
        call.answered(result)

    def _open(self, context: Context, name: str, arguments: Any) -> McpCall:
        tool = open_tool(
            self.tracer,
            f"{_TOOLS_CALL} {name}",
            SpanKind.CLIENT,
            context,
            name,
            arguments={} if arguments is None else arguments,
            attributes={semconv.MCP_METHOD_NAME: _TOOLS_CALL},
        )
        return McpCall(name, tool, ToolRecording(context, tool))

    # -- what mcp 2.x does by itself ------------------

    def own_span(self, wrapped: Function, instance: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the SDK's own span: within a call of ours it gets ours, to which it cannot write.

        Its context manager records what the SDK raises; ours does that, so it gets none of its own.
        """
        stand_in: Any = None
        with _OWN_SPAN:
            stand_in = self._stand_in(kwargs.get("attributes"))
        return wrapped(*args, **kwargs) if stand_in is None else stand_in

    def _stand_in(self, attributes: Any) -> Any:
        call = self._running()
        if call is None or not is_dict(attributes):
            return None
        if attributes.get(semconv.MCP_METHOD_NAME) != _TOOLS_CALL:
            return None
        span = call.tool.span
        identity = span.get_span_context()
        if not identity.is_valid:
            return None
        request_id = attributes.get(semconv.JSONRPC_REQUEST_ID)
        if isinstance(request_id, str):
            span.set_attribute(semconv.JSONRPC_REQUEST_ID, request_id)
        return contextlib.nullcontext(NonRecordingSpan(identity))

    def own_context(self, wrapped: Function, instance: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the SDK's writing of its context: ours is written already, turn included."""
        with _OWN_CONTEXT:
            if self._running() is not None and "traceparent" in args[0]:
                return None
        return wrapped(*args, **kwargs)

    def _running(self) -> McpCall | None:
        call = otel_context.get_value(_CALL)
        if self.enabled and isinstance(call, McpCall) and call.under_way:
            return call
        return None


def _within(context: Context, name: str, arguments: Any) -> McpCall | None:
    """The call as that of the recorded tool around it, if it is the same."""
    tool = context.get(TOOL_KEY)
    if not isinstance(tool, OpenTool) or tool.turn is not active_turn(context):
        return None
    if not _same(tool, name, arguments):
        return None
    tool.span.set_attribute(semconv.MCP_METHOD_NAME, _TOOLS_CALL)
    return McpCall(name, tool, None)


def _same(tool: OpenTool, name: str, arguments: Any) -> bool:
    """Whether a recorded tool is this call: by name (maybe with the server's before it), by
    arguments, or because its arguments are the name and arguments to call."""
    own: Any = tool.arguments
    if tool.name == name or (
        tool.name.endswith(name) and tool.name[: -len(name)].endswith(("_", ".", "/", ":", "-"))
    ):
        return True
    if not is_dict(own):
        return False
    if name in own.values() and (arguments in own.values() or not arguments):
        tool.is_called(name, {} if arguments is None else arguments)
        tool.span.set_attribute(semconv.TOOL_NAME, name)
        tool.span.update_name(f"execute_tool {name}")
        if tool.turn is not None:  # the model asked for it by the name that is known only now
            call_id = tool.turn.requested_call_id(tool.name, tool.arguments)
            if call_id:
                tool.span.set_attribute(semconv.TOOL_CALL_ID, call_id)
        return True
    return bool(arguments) and own == arguments


def _with_context(kwargs: Kwargs) -> dict[str, Any]:
    """The keywords with where this call is in ``meta``; the caller's own mapping is left alone."""
    # Only where a call leaves the process.
    from turnspan.tracing.propagation import inject

    carrier = inject()
    if not carrier:
        return kwargs
    given: Any = kwargs.get("meta")
    return {**kwargs, "meta": {**(given if given is not None else {}), **carrier}}


def failure_of(result: Any) -> str:
    """What a tool's error result says; empty for a good one."""
    failed = getattr(result, "is_error", None) is True or getattr(result, "isError", None) is True
    if not failed:
        return ""
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.redactor import Redactor

    for block in getattr(result, "content", None) or ():
        text = getattr(block, "text", None)
        if isinstance(text, str) and text:
            return Redactor(config.active()).beginning(text, "error", _MAX_MESSAGE)
    return "the tool failed"


def error_code(error: BaseException) -> str:
    """The JSON-RPC code of an error that came over the connection; empty for any other."""
    code = getattr(getattr(error, "error", None), "code", None)
    return str(code) if isinstance(code, int) and not isinstance(code, bool) else ""


class McpInstrumentor(SdkInstrumentor):
    """Records every tool called through a client of the ``mcp`` package."""

    package = "mcp"
    scope = semconv.SCOPE_MCP
    versions = "mcp >= 1.9, < 3"
    make_sdk = McpSdk

    def patch(self, sdk: McpSdk, patches: Patches) -> str:
        """Put the wrappers on; returns why the SDK cannot be instrumented, or nothing."""
        owner: Any = getattr(import_module(_SESSION), "ClientSession", None)
        function = getattr(owner, "call_tool", None)
        if function is None:
            return "this version of mcp has no ClientSession.call_tool"
        sdk.takes_meta = "meta" in inspect.signature(function).parameters
        if util.find_spec("mcp.shared._otel") is not None:
            if not patches.wrap(_DISPATCHER, "otel_span", sdk.own_span):
                return "this version of mcp traces itself and cannot be stopped"
            patches.wrap(_DISPATCHER, "inject_trace_context", sdk.own_context)
            patches.wrap("mcp.client.client", "Client.call_tool", sdk.acall)
        patches.wrap(_SESSION, "ClientSession.call_tool", sdk.acall)
        if not sdk.takes_meta:
            patches.missing.append(f"{_SESSION}:ClientSession.call_tool(meta=)")
        return ""
