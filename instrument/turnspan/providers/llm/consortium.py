"""The plugin ``llm-consortium``: each orchestration is a run, with its members and its arbiter.

It has no hooks, so the methods of its orchestrator are wrapped: ``orchestrate``, and those that ask
a member and the arbiter, which are called otherwise in every generation of it. What they are given
is read by the parameters' names. A member that fails is not raised but told in what they return.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from opentelemetry import trace

from turnspan import config, semconv
from turnspan.loop.consortia.members import Arbiter, Member
from turnspan.loop.consortia.runs import Run, consortium
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.providers.llm.open_response import ConsortiumOutput, PluginAnswering, current_output
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan.tracing.agent_recording import TurnRecording, begin_turn
from turnspan.tracing.context import active_turn

MODULE: Final = "llm_consortium"
_ORCHESTRATOR: Final = "ConsortiumOrchestrator"
_MEMBER: Final = (
    "_get_model_response",  # until 0.5
    "_get_single_response_automatic",  # since 0.8, and the next
    "_get_single_model_response_manual",
)
_ARBITER: Final = (
    "_synthesize_responses",
    "_synthesize_responses_automatic",
    "_synthesize_responses_manual",
)
_NAMELESS: Final = "consortium"
"""The agent of a run whose consortium has no name."""
_OPEN: Final = guard("llm.consortium.begin")
_CLOSE: Final = guard("llm.consortium.end")

_Given = Mapping[str, Any]


class MemberFailed(Exception):
    """A member's failure of which the plugin tells nothing but a text."""


class Consortia:
    """The wrappers of one instrumentation."""

    def __init__(self, is_on: Callable[[], bool]) -> None:
        self._is_on = is_on
        self._under_way: dict[int, _Orchestration] = {}
        """By the orchestrator: it is known in threads that carry no context, too."""

    def patch(self, patches: Patches) -> None:
        """Put the wrappers on, once the plugin has been imported."""
        patches.wrap(MODULE, f"{_ORCHESTRATOR}.orchestrate", self.run)
        asked = ((_MEMBER, _Orchestration.member), (_ARBITER, _Orchestration.arbiter))
        for names, begin in asked:
            paths = [f"{_ORCHESTRATOR}.{name}" for name in names]
            there = [path for path in paths if patches.has(MODULE, path)]
            for path in there or paths[:1]:  # of one that is missing it is noted
                patches.wrap(MODULE, path, partial(self._asking, begin))

    def run(self, wrapped: Function, orchestrator: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``orchestrate``."""
        begun: _Orchestration | None = None
        with _OPEN:
            if self._is_on() and config.active().enabled:
                begun = _Orchestration(orchestrator, _given(wrapped, args, kwargs))
        if begun is None:
            return wrapped(*args, **kwargs)
        key = id(orchestrator)
        before = self._under_way.get(key)
        self._under_way[key] = begun

        def ended(result: Any, error: BaseException | None) -> None:
            if before is None:
                self._under_way.pop(key, None)
            else:
                self._under_way[key] = before
            begun.ended(result, error)

        return _around(wrapped, args, kwargs, begun.enter, ended)

    def _asking(
        self,
        begin: Callable[[_Orchestration, _Given], _PluginAsked | None],
        wrapped: Function,
        orchestrator: Any,
        args: Args,
        kwargs: Kwargs,
    ) -> Any:
        """Around what asks a member or the arbiter."""
        asked: _PluginAsked | None = None
        with _OPEN:
            run = self._under_way.get(id(orchestrator))
            if run is not None:
                asked = begin(run, _given(wrapped, args, kwargs))
        if asked is None:
            return wrapped(*args, **kwargs)
        return _around(wrapped, args, kwargs, asked.enter, asked.ended)


class _Orchestration:
    """A run under way."""

    def __init__(self, orchestrator: Any, given: _Given) -> None:
        self._orchestrator = orchestrator
        self._output: ConsortiumOutput | None = current_output()
        name: Any = getattr(orchestrator, "config_name", None)
        if self._output is not None:
            name = self._output.name
        settings: Any = getattr(orchestrator, "config", None)
        strategy: Any = getattr(settings, "strategy", None)
        self._prompt: Any = given.get("prompt")
        self._name: str = name or ""
        self._block = consortium(self._prompt, name=self._name, strategy=strategy or "")
        self._run: Run | None = None
        self._turn: TurnRecording | None = None
        self._token: object | None = None
        self._asked: dict[tuple[int, str], int] = {}
        """How often a model was asked in an iteration, where the plugin does not count."""

    def enter(self) -> None:
        """It begins: a turn of its own where none is around it."""
        if active_turn() is None:
            self._turn = begin_turn(self._name or _NAMELESS, "", None, self._prompt, {})
            self._token = self._turn.enter()
        self._run = run = self._block.__enter__()
        if self._output is not None:
            self._output.run_id, self._output.turn = run.id, self._turn

    def ended(self, result: Any, error: BaseException | None) -> None:
        """It is over."""
        run, turn = self._run, self._turn
        if run is None:
            return
        text = _fields(_fields(result).get("synthesis")).get("synthesis")
        if error is None and isinstance(text, str) and text:
            run.final(text)
        known: Any = getattr(self._orchestrator, "consortium_id", None)
        if isinstance(known, str):
            trace.get_current_span().set_attribute(semconv.LLM_CONSORTIUM_ID, known)
        self._block.__exit__(None if error is None else type(error), error, None)
        if turn is None:
            return
        turn.leave(self._token)
        if error is None:
            turn.succeeded(text)
        else:
            turn.failed(error)

    def member(self, given: _Given) -> _Member | None:
        """One that is about to be asked."""
        run = self._run
        if run is None:
            return None
        task = _fields(given.get("task"))
        model: Any = given.get("model", given.get("model_id", task.get("model_id")))
        iteration: Any = given.get("iteration")
        instance: Any = given.get("instance", task.get("instance"))
        if instance is None:
            place = (run.iterations.now(iteration), str(model))
            instance = self._asked[place] = self._asked.get(place, -1) + 1
        return _Member(run.member(str(model), iteration, instance))

    def arbiter(self, given: _Given) -> _Arbiter | None:
        """The one that is about to be asked."""
        run = self._run
        if run is None:
            return None
        model: Any = getattr(self._orchestrator, "arbiter", None)
        responses: Any = given.get("responses", given.get("valid_responses"))
        return _Arbiter(run.arbiter(given.get("iteration"), model or ""), responses)


class _PluginAsked:
    """A member or an arbiter that is asked."""

    def __init__(self, block: Member | Arbiter) -> None:
        self._block = block
        self._answering = PluginAnswering()

    def enter(self) -> None:
        """It is asked."""
        self._block.__enter__()
        self._answering.enter()

    def ended(self, result: Any, error: BaseException | None) -> None:
        """It has given this."""
        self._answering.leave()
        error = self._heard(_fields(result), error)
        self._block.__exit__(None if error is None else type(error), error, None)

    def _heard(self, said: dict[str, Any], error: BaseException | None) -> BaseException | None:
        """Take what a kind of them says; what it has failed with, if it has."""
        raise NotImplementedError


class _Member(_PluginAsked):
    """A member that is asked; in what it gives a failure may be told."""

    def _heard(self, said: dict[str, Any], error: BaseException | None) -> BaseException | None:
        told = said.get("error")
        if error is None and told is not None:
            return self._answering.error or MemberFailed(str(told))
        return error


class _Arbiter(_PluginAsked):
    """An arbiter that is asked."""

    def __init__(self, block: Arbiter, responses: Any) -> None:
        super().__init__(block)
        self._arbiter = block
        self._labels: dict[Any, str] = {}
        for one in map(_fields, responses if is_list(responses) else ()):
            instance = one.get("instance")
            label = one.get("model", "")
            self._labels.setdefault(
                one.get("id"), label if instance is None else f"{label}#{instance}"
            )

    def _heard(self, said: dict[str, Any], error: BaseException | None) -> BaseException | None:
        if said:
            needs, areas = said.get("needs_iteration"), said.get("refinement_areas")
            ranking = said.get("ranking")
            ranked = ranking if is_list(ranking) else ()
            known = (self._labels.get(one) for one in ranked if isinstance(one, int | str))
            self._arbiter.decided(
                synthesis=said.get("synthesis"),
                confidence=said.get("confidence"),
                ranking=[label for label in known if label],
                reasoning=said.get("analysis") or None,
                refinement_areas=areas if is_list(areas) else None,
                needs_iteration=needs if isinstance(needs, bool) else None,
                raw=self._answering.text if said.get("dissent") else None,  # nothing else has it
            )
        return error


def _given(wrapped: Function, args: Args, kwargs: Kwargs) -> _Given:
    """What a method is called with, by its parameters' names."""
    return inspect.signature(wrapped).bind_partial(*args, **kwargs).arguments


def _fields(value: Any) -> dict[str, Any]:
    return value if is_dict(value) else {}


def _around(
    wrapped: Function,
    args: Args,
    kwargs: Kwargs,
    enter: Callable[[], None],
    ended: Callable[[Any, BaseException | None], None],
) -> Any:
    """Call a method, or have its coroutine run, between the two."""
    if inspect.iscoroutinefunction(wrapped):
        return _aaround(wrapped(*args, **kwargs), enter, ended)
    with _OPEN:
        enter()
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        with _CLOSE:
            ended(None, error)
        raise
    with _CLOSE:
        ended(result, None)
    return result


async def _aaround(
    asked: Awaitable[Any],
    enter: Callable[[], None],
    ended: Callable[[Any, BaseException | None], None],
) -> Any:
    with _OPEN:
        enter()
    try:
        result = await asked
    except BaseException as error:
        with _CLOSE:
            ended(None, error)
        raise
    with _CLOSE:
        ended(result, None)
    return result
