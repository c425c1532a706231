"""Whatever is said to Turnspan, whatever a value's own methods do: nothing of it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import attrs
import pydantic
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan as public
from turnspan.runtime.guard import errors

turnspan = cast("Any", public)


@public.tool
def inner(how: str) -> str:
    """What a value's methods call."""
    return how


class Shown:
    def __repr__(self) -> str:
        return inner("repr")


class Spelt:
    def __str__(self) -> str:
        return inner("str")


class Named(str):
    def __str__(self) -> str:
        return inner("str")


class Hashed(str):
    def __hash__(self) -> int:
        return len(inner("hash"))


class Listed(list[Any]):
    def __iter__(self) -> Any:
        inner("iter")
        return super().__iter__()

    def __len__(self) -> int:
        inner("len")
        return super().__len__()


class Mapped(dict[str, Any]):
    def items(self) -> Any:
        inner("items")
        return super().items()

    def __iter__(self) -> Any:
        inner("iter")
        return super().__iter__()

    def get(self, *given: Any) -> Any:
        inner("get")
        return super().get(*given)

    def __getitem__(self, key: str) -> Any:
        inner("getitem")
        return super().__getitem__(key)


class Counted:
    def __float__(self) -> float:
        inner("float")
        return 0.5


class Compared:
    def __eq__(self, other: object) -> bool:
        inner("eq")
        return True

    __hash__ = None  # type: ignore[assignment]


class Asked:
    def __bool__(self) -> bool:
        inner("bool")
        return True


@dataclass
class Held:
    value: Any = 1

    def __getattribute__(self, name: str) -> Any:
        if name == "value":
            inner("field")
        return super().__getattribute__(name)


@attrs.define
class Defined:
    value: Any = 1

    def __repr__(self) -> str:
        return inner("repr")


class Dumped(pydantic.BaseModel):
    a: int = 1

    def model_dump(self, **given: Any) -> Any:
        inner("dump")
        return super().model_dump(**given)

    def __iter__(self) -> Any:
        inner("iter")
        return super().__iter__()

    def __repr__(self) -> str:
        return inner("repr")


class Watched(pydantic.BaseModel):
    a: int = 1

    def __getattribute__(self, name: str) -> Any:
        if name in ("__dict__", "__pydantic_fields_set__", "a"):
            inner(name)
        return super().__getattribute__(name)


MAKE: list[Callable[[], Any]] = [
    *(Shown, Spelt, Counted, Compared, Asked, Held, Defined),
    *(lambda: Named("n"), lambda: Hashed("h"), lambda: Listed([1]), lambda: [Shown()]),
    *(lambda: Mapped(a=1, role="user", content="x"), lambda: {"a": Shown()}),
    *(lambda: Dumped(a=2), lambda: Watched(a=2)),
]


def block(scope: Any, inside: Callable[[Any], object] = lambda _: None) -> object:
    with scope as entered:
        inside(entered)
    return scope


SAID: dict[str, Callable[[Any], object]] = {
    "session": lambda v: block(turnspan.session(v)),
    "session.user": lambda v: block(turnspan.session("s", user_id=v)),
    "session.attr": lambda v: block(
        turnspan.session("s", x=v), lambda s: block(turnspan.step("q"))
    ),
    "agent.name": lambda v: block(turnspan.agent("a", version=v)),
    "agent.attr": lambda v: block(turnspan.agent("a", attributes={"x": v})),
    "agent.attrs": lambda v: block(turnspan.agent("a", attributes=v)),
    "agent.max": lambda v: block(turnspan.agent("a", max_rounds=v)),
    "turn.stop": lambda v: block(turnspan.agent("a"), lambda t: t.stop(v)),
    "turn.abort": lambda v: block(turnspan.agent("a"), lambda t: t.abort(v)),
    "turn.set intent": lambda v: block(turnspan.agent("a"), lambda t: t.set(intent=v, target=v)),
    "turn.set msg": lambda v: block(turnspan.agent("a"), lambda t: t.set(user_message=v)),
    "turn.set resp": lambda v: block(turnspan.agent("a"), lambda t: t.set(response_text=v)),
    "turn.set x": lambda v: block(turnspan.agent("a"), lambda t: t.set(x=v)),
    "tool.call_id": lambda v: block(turnspan.tool("t", call_id=v)),
    "tool.args": lambda v: block(turnspan.tool("t", arguments=v)),
    "tool.desc": lambda v: block(turnspan.tool("t", description=v, type=v)),
    "tool.result": lambda v: block(turnspan.tool("t"), lambda t: setattr(t, "result", v)),
    "tool.fail": lambda v: block(turnspan.tool("t"), lambda t: t.fail(v)),
    "step.set": lambda v: block(turnspan.step("t"), lambda t: t.set(x=v)),
    "inf.model": lambda v: block(turnspan.inference(model=v, provider=v, server_address=v)),
    "inf.messages": lambda v: block(turnspan.inference(model="m", messages=[v])),
    "inf.messages2": lambda v: block(turnspan.inference(model="m", messages=v)),
    "inf.content": lambda v: block(
        turnspan.inference(model="m", messages=[{"role": "user", "content": v}])
    ),
    "inf.tools": lambda v: block(turnspan.inference(model="m", tools=[v], system=v)),
    "inf.param": lambda v: block(turnspan.inference(model="m", temperature=v, foo=v)),
    "inf.text": lambda v: block(turnspan.inference(model="m"), lambda c: c.response(text=v)),
    "inf.calls": lambda v: block(
        turnspan.inference(model="m"), lambda c: c.response(tool_calls=[v], id=v, model=v)
    ),
    "inf.tokens": lambda v: block(
        turnspan.inference(model="m"), lambda c: c.response(input_tokens=v)
    ),
    "inf.chunk": lambda v: block(turnspan.inference(model="m"), lambda c: c.chunk(v)),
    "annotate.comment": lambda v: turnspan.annotate("t", comment=v),
    "annotate.author": lambda v: turnspan.annotate("t", score=1, author=v, id=v),
    "annotate.score": lambda v: turnspan.annotate("t", score=v),
    "annotate.conf": lambda v: turnspan.annotate("t", score=1, confidence=v),
    "annotate.outcome": lambda v: turnspan.annotate("t", outcome=v),
    "annotate.flag": lambda v: turnspan.annotate("t", training_flag=v),
    "annotate.subject": lambda v: turnspan.annotate(v, score=1),
    "evaluation": lambda v: block(
        turnspan.step("z"), lambda _: turnspan.evaluation(v, label=v, explanation=v)
    ),
    "prefer": lambda v: turnspan.prefer("a", "b", reason=v),
    "rank": lambda v: turnspan.rank(v),
    "withdraw": lambda v: turnspan.withdraw("t", v),
    "artifact": lambda v: turnspan.artifact(v, v),
    "experiment": lambda v: turnspan.experiment(v, need=v, constraints=v),
    "lineage": lambda v: turnspan.experiment("e").lineage(v, strategy=v),
    "attempt": lambda v: block(
        turnspan.experiment("e").lineage("A").rollout(1),
        lambda r: block(r.attempt(input=v, parameters=v), lambda a: a.set(output=v)),
    ),
    "version": lambda v: turnspan.experiment("e").lineage("A").version(v),
    "evolve": lambda v: turnspan.evolve(
        turnspan.experiment("e").lineage("A"), "a", "b", changes=v, plan=v
    ),
    "insight": lambda v: turnspan.insight(v, evolutions=[v], confidence=v),
    "consortium": lambda v: block(
        turnspan.consortium(v, name=v),
        lambda r: (
            block(r.member("m"), lambda m: m.answered(v)),
            block(
                r.arbiter(), lambda a: a.decided(synthesis=v, confidence=v, ranking=v, reasoning=v)
            ),
            r.final(v),
        ),
    ),
    "context": lambda v: block(
        turnspan.context_assembly(v, entities=v, budget=v),
        lambda c: (
            c.consider(v, text=v, score=v, tokens=v),
            c.keep(v),
            c.drop(v, reason=v),
            c.assembled(v),
        ),
    ),
    "extract": lambda v: block(turnspan.extract(v)),
    "extract2": lambda v: block(turnspan.extract({"traceparent": v})),
    "inject": lambda v: turnspan.inject(v),
}
"""Everything that takes a value of the application's, by what it is called."""


@pytest.fixture
def exported(tmp_path: Path) -> Any:
    """The spans of an application that records."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    turnspan.configure(store=f"chdb://{tmp_path}", exporters=["turnspan"], tracer_provider=provider)
    yield exporter
    turnspan.shutdown()
    errors.reset()


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_nothing_that_a_value_calls_is_recorded(
    exported: InMemorySpanExporter, said: Callable[[Any], object]
) -> None:
    """On the thread that says it, and on the worker's."""
    for make in MAKE:
        exported.clear()
        said(make())
        turnspan.flush(local=True)
        names = [span.name for span in exported.get_finished_spans()]
        assert "execute_tool inner" not in names, make


def test_a_hook_that_calls_is_not_recorded(tmp_path: Path) -> None:
    """It would be asked about what it records, which it would record."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    asked: list[str] = []

    def redact(text: str, where: str) -> str:
        asked.append(where)
        inner(text)
        return text

    turnspan.configure(
        store=f"chdb://{tmp_path}", exporters=["turnspan"], tracer_provider=provider, redact=redact
    )
    with turnspan.tool("outer", arguments={"a": "b"}) as tool:
        tool.fail("no such page")
    assert turnspan.flush(local=True).ok and asked
    turnspan.shutdown()
    assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool outer"]


class Refused(Exception):
    """A provider's error that calls when it is looked at."""

    def __str__(self) -> str:
        ran.append("str")
        return inner("str")

    @property
    def body(self) -> Any:
        """What came back."""
        ran.append("body")
        return {"message": inner("body")}


ran: list[str] = []


def test_an_error_of_a_model_call_is_read_once(exported: InMemorySpanExporter) -> None:
    with pytest.raises(Refused), turnspan.inference(model="m"):
        raise Refused
    names = [span.name for span in exported.get_finished_spans()]
    assert (names, ran) == (["chat m"], ["str", "body"])
    errors.reset()
