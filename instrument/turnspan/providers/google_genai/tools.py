"""Functions that the google-genai SDK calls by itself because the model asked for them.

Each is an executed tool of the turn under way. Outside a turn it is read from the messages instead,
as any tool of an undecorated agent: of a stream the SDK calls functions before the reply has ended,
and a span without a turn could not be told from what the messages say.
"""

from __future__ import annotations

from typing import Any, Final

from opentelemetry import context as otel_context

from turnspan import config
from turnspan.patching.frame import ToolFrame
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import Sdk
from turnspan.runtime.guard import guard
from turnspan.tracing import recording
from turnspan.tracing.context import active_turn
from turnspan.tracing.tool_answers import ToolAnswers
from turnspan.tracing.tool_recording import begin_tool
from turnspan.tracing.tool_runner import ToolRun, current_run, enter_run

_UTILS: Final = "google.genai._extra_utils"
_ASKED: Final = otel_context.create_key("turnspan-google-functions")

_ASKING: Final = guard("google.functions")
_MAX_DESCRIPTION: Final = 4_000

Running = tuple[ToolRun, object]
"""A function at work, and what ``detach`` takes: its tool is current until it returns or raises."""


class AutomaticFunctions(ToolFrame[Running]):
    """The wrappers around the SDK's own calls of functions."""

    place = "google.function"

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk

    def patch(self, patches: Patches) -> None:
        """Put the wrappers on; a version without one of these functions does without."""
        for name, wrapper in (
            ("get_function_response_parts", self.answer),
            ("get_function_response_parts_async", self.aanswer),
            ("invoke_function_from_dict_args", self.call),
            ("invoke_function_from_dict_args_async", self.acall),
        ):
            if patches.has(_UTILS, name):
                patches.wrap(_UTILS, name, wrapper)

    # -- the functions that one reply asks for

    def answer(self, wrapped: Function, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the calls of what one reply asks for, which are to know their ids."""
        token: object | None = None
        with _ASKING:
            token = _asked_for(args, kwargs)
        try:
            return wrapped(*args, **kwargs)
        finally:
            with _ASKING:
                recording.detach(token)

    async def aanswer(self, wrapped: Function, _: Any, args: Args, kwargs: Kwargs) -> Any:
        """The same, asynchronous."""
        token: object | None = None
        with _ASKING:
            token = _asked_for(args, kwargs)
        try:
            return await wrapped(*args, **kwargs)
        finally:
            with _ASKING:
                recording.detach(token)

    # -- one function

    def _in_rerun(self, wrapped: Function, answers: ToolAnswers) -> Any:
        """The SDK's invocation, which a rerun gives a function in place of the application's: the
        SDK has words of its own for what one raises."""

        def invoke(args: Any, function_to_invoke: Any) -> Any:
            run = current_run()
            if run is not None and not run.recording.tool.asked:
                stand_in = answers.stand_in(run.recording.tool, function_to_invoke)
                function_to_invoke = stand_in or function_to_invoke
            return wrapped(args, function_to_invoke)

        return invoke

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[Running, Kwargs] | None:
        if not self._sdk.enabled or not config.active().enabled or active_turn() is None:
            return None
        arguments = args[0] if args else kwargs["args"]
        function = args[1] if len(args) > 1 else kwargs["function_to_invoke"]
        name = str(getattr(function, "__name__", "function"))
        call_id = _call_id(name)
        described = getattr(function, "__doc__", None)
        begun = begin_tool(
            name,
            call_id=call_id,
            description=described[:_MAX_DESCRIPTION] if isinstance(described, str) else "",
            arguments=arguments,
        )
        return enter_run(begun, function), kwargs

    def _failed(self, call: Running, owner: Any, error: BaseException) -> None:
        # The SDK tells of it with an error of its own, raised in its place.
        run, token = call
        recording.detach(token)
        run.recording.failed(run.error or error.__context__ or error)

    def _answered(self, call: Running, result: Any) -> None:
        run, token = call
        recording.detach(token)
        run.recording.succeeded(result)


def _asked_for(args: Args, kwargs: Kwargs) -> object:
    """Note the calls that a reply asks for: names and ids, in the order in which they will run."""
    response: Any = args[0] if args else kwargs["response"]
    asked: list[tuple[str, str]] = []
    candidates: Any = response.candidates or ()
    for part in (candidates[0].content.parts or ()) if candidates else ():
        call: Any = part.function_call
        if call:
            asked.append((str(call.name), str(getattr(call, "id", None) or "")))
    return otel_context.attach(otel_context.set_value(_ASKED, asked))


def _call_id(name: str) -> str:
    """The model's id of the call that is next to run by this name; used up once."""
    asked: Any = otel_context.get_value(_ASKED)
    for each in asked or ():
        if each[0] == name:
            asked.remove(each)
            return str(each[1])
    return ""
