"""``record``: everything that an agent does inside, in memory, as typed records."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from turnspan.config import RedactHook
from turnspan.content.model import as_dict
from turnspan.testing.records import (
    RecordedAnnotation,
    RecordedCall,
    RecordedMessage,
    RecordedSpan,
    RecordedTool,
    RecordedTurn,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from turnspan.lifecycle import Recorder
    from turnspan.testing.memory import Ended

T = TypeVar("T")


class NotOneError(AssertionError):
    """A test asked for the one record of a kind, and there are none or several; the message lists
    what there is."""


class _RowsProtocol(Protocol):
    """``turnspan_clickhouse.testing.Rows``."""

    def take(self, spans: Sequence[ReadableSpan]) -> None: ...
    def turns(self) -> list[RecordedTurn]: ...
    def calls(self) -> list[RecordedCall]: ...
    def tools(self) -> list[RecordedTool]: ...
    def annotations(self) -> list[RecordedAnnotation]: ...
    def spans(self) -> list[RecordedSpan]: ...
    def of(self, kind: type[Any]) -> list[Any]: ...


class Recorded:
    """What was recorded so far. It can be asked inside the block, and after it.

    Each method gives its records in the order they began, each in its newest state. Keywords
    choose: ``recorded.calls(model="gpt-4o", stream=True)`` are those of which both are true; a name
    that such a record does not have is a ``TypeError``. The methods in the singular give the one
    record that fits, and raise ``NotOneError`` (an ``AssertionError``), which lists what there is,
    where none or several do.

    Spans become records when they are asked for. A span that cannot be turned into records raises
    then, whereas in an application it is counted and costs only itself.
    """

    def __init__(self, ended: Ended, rows: _RowsProtocol) -> None:
        self._ended = ended
        self._rows = rows
        self._lock = threading.Lock()
        self._failed: Exception | None = None

    def turns(self, **where: Any) -> list[RecordedTurn]:
        """The turns of agents, whether they have ended (``status="final"``) or not."""
        return _chosen(RecordedTurn, self._now().turns(), where)

    def turn(self, **where: Any) -> RecordedTurn:
        """The one turn of this kind."""
        return _one(RecordedTurn, self._now().turns(), where)

    def calls(self, **where: Any) -> list[RecordedCall]:
        """The model calls that have ended; ``model`` is the one that was asked for."""
        return _chosen(RecordedCall, self._now().calls(), where)

    def call(self, **where: Any) -> RecordedCall:
        """The one model call of this kind."""
        return _one(RecordedCall, self._now().calls(), where)

    def tools(self, **where: Any) -> list[RecordedTool]:
        """The tools that were executed, also those that only the model's messages tell of."""
        return _chosen(RecordedTool, self._now().tools(), where)

    def tool(self, **where: Any) -> RecordedTool:
        """The one executed tool of this kind."""
        return _one(RecordedTool, self._now().tools(), where)

    def annotations(self, **where: Any) -> list[RecordedAnnotation]:
        """The judgments, evaluations among them."""
        return _chosen(RecordedAnnotation, self._now().annotations(), where)

    def annotation(self, **where: Any) -> RecordedAnnotation:
        """The one judgment of this kind."""
        return _one(RecordedAnnotation, self._now().annotations(), where)

    def spans(self, **where: Any) -> list[RecordedSpan]:
        """Every span that has ended, of whichever instrumentation."""
        return _chosen(RecordedSpan, self._now().spans(), where)

    def span(self, **where: Any) -> RecordedSpan:
        """The one span of this kind."""
        return _one(RecordedSpan, self._now().spans(), where)

    def messages(self, call: RecordedCall | None = None) -> list[RecordedMessage]:
        """What a call's model got and said, in order; the only call's where none is given.

        Raises:
            NotOneError: no call is given, and there are none or several.
        """
        found = self.call() if call is None else call
        return [*found.messages, *found.reply]

    def rows(self, kind: type[T]) -> list[T]:
        """The rows that would have landed, by their class in ``turnspan_clickhouse.rows.tables``
        (docs/schema.md). Their columns may change with the schema."""
        return self._now().of(kind)

    def show(self) -> str:
        """The conversation in a few lines, for the message of a test that fails."""
        rows = self._now()
        return show(rows.turns(), rows.calls(), rows.tools())

    def __repr__(self) -> str:
        return f"<recorded:\n{self.show()}\n>"

    def close(self) -> None:
        """Nothing more is recorded: the block is over (not part of the public API)."""
        with self._lock:
            try:
                self._rows.take(self._ended.take())
            except Exception as error:  # noqa: BLE001  not in the place of the test's own
                self._failed = error
            self._ended.closed = True

    def _now(self) -> _RowsProtocol:
        with self._lock:
            failed, self._failed = self._failed, None
            if failed is not None:
                raise failed
            if not self._ended.closed:
                self._rows.take(self._ended.take())
        return self._rows


def _chosen(kind: type[T], found: Sequence[T], where: Mapping[str, Any]) -> list[T]:
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in where:
        if name not in known:
            raise TypeError(f"{kind.__name__} has no {name!r}: it has {', '.join(known)}.")
    wanted = where.items()
    return [each for each in found if all(getattr(each, name) == value for name, value in wanted)]


def _one(kind: type[T], found: Sequence[T], where: Mapping[str, Any]) -> T:
    chosen = _chosen(kind, found, where)
    if len(chosen) == 1:
        return chosen[0]
    what = kind.__name__.removeprefix("Recorded").lower()
    asked = " with " + ", ".join(f"{k}={v!r}" for k, v in where.items()) if where else ""
    count = f"{len(chosen)} are" if chosen else "none is"
    listed = chosen or found
    there = "".join(f"\n  {describe(each)}" for each in listed) or " nothing"
    raise NotOneError(f"one {what}{asked} was expected, {count} recorded. There is:{there}")


@contextmanager
def record(
    recorder: Recorder | None = None,
    *,
    instrument: bool = True,
    service_name: str | None = None,
    project: str | None = None,
    capture_content: bool | None = None,
    capture_media: bool | None = None,
    content_limit_bytes: int | None = None,
    redact: RedactHook | None = None,
    mask_secrets: bool | None = None,
    classify_intent: bool | None = None,
) -> Generator[Recorded]:
    """Record into memory, and nowhere else, whatever is made inside.

    It holds for the whole process, in every thread and task: model calls, decorated functions,
    judgments, and the spans that other instrumentations make under the application's provider.
    Whether Turnspan is configured makes no difference. Inside, ``turnspan.configure`` changes
    content settings only, ``flush`` and ``shutdown`` have nothing to do; the store, the spool, the
    application's exporters, metrics and log events get nothing. Afterwards everything is as it was.
    Blocks may be nested: the inner one takes what is made inside it.

        with turnspan.testing.record() as recorded:
            answer("Is it raining in Oslo?")
        assert recorded.turn().stop_reason == "completed"
        assert recorded.tool(name="weather").arguments == {"city": "Oslo"}

    Args:
        recorder: the one to stand in for; else the one of ``turnspan.configure``.
        instrument: call ``turnspan.instrument()``, and undo it afterwards, unless something is
            instrumented already.
        service_name: as ``turnspan.configure`` has it, and all that follow. They hold whatever the
            application configures; what is not given is as it is configured, or by default.
        project: groups the records.
        capture_content: False records no content.
        capture_media: record the bytes of images and files.
        content_limit_bytes: cut what is longer; 0: never.
        redact: ``redact(text, where) -> text``.
        mask_secrets: mask secrets of well-known shapes.
        classify_intent: give a turn without an intent one by keywords.

    Yields:
        What is recorded so far. What ends after the block is not recorded.

    Raises:
        ValueError: an argument is of the wrong type.
    """
    from turnspan.testing import memory  # the SDK: ``turnspan.testing`` itself stays light
    from turnspan.tracing.state import default

    held = memory.held_settings(
        {
            "project": project,
            "capture_content": capture_content,
            "capture_media": capture_media,
            "content_limit_bytes": content_limit_bytes,
            "redact": redact,
            "mask_secrets": mask_secrets,
            "classify_intent": classify_intent,
        }
    )
    state = default if recorder is None else recorder.state
    ended = memory.Ended()
    standing, end = memory.begin(state, ended, held, service_name, instrument)
    # How spans become records is the exporter's to know, which imports this package and is not
    # imported by it: it is asked for by name, as ``configure`` finds exporters.
    rows: _RowsProtocol = import_module("turnspan_clickhouse.testing").Rows(
        standing.content, settings=lambda: standing.settings
    )
    recorded = Recorded(ended, rows)
    try:
        yield recorded
    finally:
        recorded.close()  # before the contents beside the spans are forgotten
        end()


# -- records in words, for the messages of failing tests ------------------

_WIDTH = 100


def show(
    turns: Sequence[RecordedTurn], calls: Sequence[RecordedCall], tools: Sequence[RecordedTool]
) -> str:
    """The turns with their calls and tools below them, then those of no turn."""
    if not turns and not calls and not tools:
        return "nothing was recorded"
    known = {turn.id for turn in turns}
    lines: list[str] = []
    for turn in turns:
        lines.append(describe(turn))
        inside: list[RecordedCall | RecordedTool] = [c for c in calls if c.turn_id == turn.id]
        inside += [tool for tool in tools if tool.turn_id == turn.id]
        lines += _indented(inside)
        if turn.text:
            lines.append(f"  says {_short(turn.text)}")
    rest: list[RecordedCall | RecordedTool] = [c for c in calls if c.turn_id not in known]
    rest += [tool for tool in tools if tool.turn_id not in known]
    if rest:
        lines += ["outside of turns", *_indented(rest)]
    return "\n".join(lines)


def _indented(found: Iterable[RecordedCall | RecordedTool]) -> list[str]:
    return [f"  {describe(each)}" for each in sorted(found, key=lambda each: each.start_time)]


def describe(record: object) -> str:
    """A record in a line."""
    if isinstance(record, RecordedTurn):
        return _turn(record)
    if isinstance(record, RecordedCall):
        return _call(record)
    if isinstance(record, RecordedTool):
        result = record.error_message or record.error_type or record.result
        word = "failed:" if record.failed else "->"
        return f"tool {record.name}({_arguments(record.arguments)}) {word} {_short(result)}"
    if isinstance(record, RecordedAnnotation):
        said = [record.outcome, record.score, record.training_flag, record.comment]
        told = ", ".join(str(each) for each in said if each not in ("", None))
        return f"annotation of {record.subject_kind} {record.subject_id}: {record.kind} {told}"
    if isinstance(record, RecordedSpan):
        return f"span {record.name!r} of {record.scope or 'no scope'} ({record.status})"
    return repr(record)


def _turn(turn: RecordedTurn) -> str:
    name = f" of {turn.agent_name}" if turn.agent_name else ""
    user = f" on {_short(turn.user_message)}" if turn.user_message else ""
    end = turn.stop_reason or turn.status
    error = f" ({turn.error_type}: {_short(turn.error_message)})" if turn.error_type else ""
    return f"turn{name}{user}: {end}{error}"


def _call(call: RecordedCall) -> str:
    said: list[str] = [_short(call.text)] if call.text else []
    said += [f"asks for {t.name}({_arguments(t.arguments)})" for t in call.tool_requests]
    if call.error_type:
        said.append(f"{call.error_type}: {_short(call.error_message)}")
    tokens = "" if call.input_tokens is None else f" [{call.input_tokens}+{call.output_tokens}]"
    return f"call {call.operation} {call.model}{tokens}: {'; '.join(said) or 'no reply'}"


def _arguments(arguments: Any) -> str:
    given = as_dict(arguments)
    if given is not None:
        return ", ".join(f"{name}={_short(value)}" for name, value in given.items())
    return _short(arguments) if arguments else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _WIDTH else f'{text[: _WIDTH - 4]}..."'
