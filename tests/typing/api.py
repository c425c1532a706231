# pyright: strict
"""What type checkers see of the public interface; each comment is what pyright reveals of its line.

Read by test_typing.py, never run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from typing_extensions import reveal_type

import turnspan


@turnspan.agent
def plain(question: str, *, limit: int = 3) -> list[str]:
    return [question] * limit


@turnspan.agent("named", version="2", max_rounds=5)
async def coroutine(question: str) -> int:
    return len(question)


@turnspan.tool
def generator(count: int) -> Iterator[str]:
    yield str(count)


@turnspan.tool(description="Counts.", call_id="c-1")
async def async_generator(count: int) -> AsyncIterator[bytes]:
    yield bytes(count)


@turnspan.session("s-1", user_id="u-1")
def in_session(a: int) -> float:
    return a / 2


reveal_type(plain)  # (question: str, *, limit: int = 3) -> list[str]
reveal_type(plain("x", limit=1))  # list[str]
reveal_type(coroutine)  # (question: str) -> CoroutineType[Any, Any, int]
reveal_type(generator)  # (count: int) -> Iterator[str]
reveal_type(async_generator)  # (count: int) -> AsyncIterator[bytes]
reveal_type(in_session)  # (a: int) -> float


class Box:
    @turnspan.step
    def method(self, a: int) -> str:
        return str(a)

    @turnspan.workflow("flow")
    async def async_method(self, a: int) -> str:
        return str(a)

    @turnspan.tool
    @classmethod
    def inside_class(cls, a: int) -> str:
        return str(a)

    @classmethod
    @turnspan.tool("named")
    def outside_class(cls, a: int) -> str:
        return str(a)

    @turnspan.tool
    @staticmethod
    def inside_static(a: int) -> str:
        return str(a)

    @staticmethod
    @turnspan.tool
    def outside_static(a: int) -> str:
        return str(a)

    @property
    @turnspan.step
    def area(self) -> int:
        return 4


box = Box()
reveal_type(box.method)  # (a: int) -> str
reveal_type(Box.method)  # (self: Box, a: int) -> str
reveal_type(box.async_method)  # (a: int) -> CoroutineType[Any, Any, str]
reveal_type(Box.inside_class)  # (a: int) -> str
reveal_type(Box.outside_class)  # (a: int) -> str
reveal_type(box.inside_static)  # (a: int) -> str
reveal_type(box.outside_static)  # (a: int) -> str
reveal_type(box.area)  # int


reveal_type(turnspan.agent())  # AgentScope
reveal_type(turnspan.tool("x"))  # ToolScope
reveal_type(turnspan.step(None))  # StepScope
reveal_type(turnspan.workflow("x", attributes={"a": 1}))  # WorkflowScope


with turnspan.agent("a") as turn, turnspan.tool("t") as call, turnspan.step("s") as step:
    reveal_type(turn)  # Turn
    reveal_type(call)  # ToolHandle
    reveal_type(step)  # StepHandle
    reveal_type(call.result)  # Any
with turnspan.workflow("w") as flow, turnspan.session("s") as session:
    reveal_type(flow)  # StepHandle
    reveal_type(session)  # Session
with turnspan.extract({"traceparent": "..."}) as remote:
    reveal_type(remote)  # Turn
reveal_type(turnspan.inject())  # dict[str, str]
reveal_type(turnspan.inject({"accept": "*/*"}))  # dict[str, str]
reveal_type(turnspan.current_turn())  # Turn


async def blocks() -> int:
    async with turnspan.agent("a") as turn, turnspan.tool("t") as call:
        reveal_type(turn)  # Turn
        reveal_type(call)  # ToolHandle
        reveal_type(await coroutine("x"))  # int
        return 1  # a block never swallows an exception, so no path is left without a value


async def loops() -> None:
    async for chunk in async_generator(1):
        reveal_type(chunk)  # bytes
    for item in generator(1):
        reveal_type(item)  # str


def judged(outcome: str, kind: str, flag: int) -> None:
    turnspan.annotate(outcome="used", kind="call", training_flag=-1)
    turnspan.annotate(outcome="great")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    turnspan.annotate(outcome=outcome)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    turnspan.annotate(kind="turns")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    turnspan.annotate(training_flag=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    turnspan.prefer("a", "b", kind=kind)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    turnspan.current_turn().stop("round_cap")
    turnspan.current_turn().stop("a word of my own")
    turnspan.session(7)
    turnspan.session(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
