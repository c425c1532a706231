"""A mistake in the code that calls us is not lost in silence, and is nobody's failure but its own:
it is an error where code is written, and a line in the log inside of what is recorded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from emit.conftest import Spans
from turnspan import instrumentation
from turnspan.runtime import guard
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import errors
from turnspan.turn.turn import Turn

session = cast("Any", turnspan.session)
agent = cast("Any", turnspan.agent)
tool = cast("Any", turnspan.tool)
public = cast("Any", turnspan)


@pytest.fixture(autouse=True)
def nothing_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once was not said by another test."""
    monkeypatch.setattr(guard, "_said", set[str]())


def test_a_near_miss_is_told_once_with_the_name(caplog: pytest.LogCaptureFixture) -> None:
    turn = Turn("1" * 16)
    for _ in range(2):
        session("s", userid="ada", tier="gold")
        session("s", user_Id="ada")
        turn.set(intnt="buy", chatmode="x", usermessage="hi", color="red")
        public.inference(message=[], temprature=1, sytem="x", max_token=2, models=[], top_a=1)
        public.inference(temperature=1, frequency_penalty=1, seed=2, think=True, tool_choice="x")
        turn.stop("complete")
        turn.stop("user_abort")
        turn.stop("bored")
    told = [record.getMessage().split(": ", 1) for record in caplog.records]
    assert [one[0].split()[-1] for one in told] == [
        *("'userid'", "'user_Id'", "'intnt'", "'chatmode'", "'usermessage'"),
        *("'message'", "'temprature'", "'sytem'", "'max_token'", "'complete'", "'user_abort'"),
    ]
    assert [one[1].split()[-2] for one in told] == [
        *("'user_id'", "'user_id'", "'intent'", "'chat_mode'", "'user_message'"),
        *("'messages'", "'temperature'", "'system'", "'max_tokens'", "'completed'"),
        "'user_aborted'",
    ]
    assert turn.attributes["intnt"] == "buy"


def work() -> None:
    """Something to decorate."""


NONSENSE: list[tuple[Callable[[], Any], str]] = [
    (lambda: session(None), r"turnspan\.session has no id"),
    (lambda: session(""), r"turnspan\.session has no id"),
    (lambda: session(" "), r"turnspan\.session has no id"),
    (lambda: agent(max_round=3), r"turnspan\.agent has no argument 'max_round'.*max_rounds"),
    (lambda: tool("look", args={}), r"turnspan\.tool has no argument 'args'.*arguments"),
    (lambda: agent(5), "expected a function to decorate or a name, not int"),
    (lambda: public.step(["x"]), "expected a function to decorate or a name, not list"),
    (lambda: instrumentation.instrument(only=["nonsense"]), "called 'nonsense'"),
    (lambda: instrumentation.instrument(only=[], exclude=["requests-x"]), "called 'requests_x'"),
    (lambda: public.instrument(only=5), r"called '5'"),
]
"""What cannot mean anything, and what is said of it."""


@pytest.mark.parametrize(("mistake", "said"), NONSENSE)
def test_what_cannot_mean_anything(
    spans: Spans, caplog: pytest.LogCaptureFixture, mistake: Callable[[], Any], said: str
) -> None:
    """Where code is written it is an error that names the public name; inside of a function that is
    recorded it is one line in the log, and the record is kept."""
    with pytest.raises((TypeError, ConfigError), match=said):
        mistake()

    @turnspan.agent
    def served() -> str:
        for _ in range(2):
            mistake()
        return "fine"

    assert served() == "fine"
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.records[0].getMessage()
    assert len(spans.all()) == 1
    turnspan.uninstrument()


def test_a_session_without_its_id_keeps_what_else_it_says(
    spans: Spans, caplog: pytest.LogCaptureFixture
) -> None:
    """Its user is worth more than an error; a number and a UUID are ids."""
    with session(None, user_id="ada"), turnspan.step("s"):
        pass
    assert dict(spans.one("s").attributes or {})["user.id"] == "ada"
    assert "turnspan.session has no id" in caplog.text
    with session(5) as numbered:
        assert numbered.id == "5"
    with pytest.raises(TypeError, match=r"@turnspan\.session\("):
        session(work)


def test_names_of_libraries(caplog: pytest.LogCaptureFixture) -> None:
    """One that is all but right is told, with what is meant; one alone is one, in any spelling."""
    for _ in range(2):
        turnspan.instrument(only=["open-ai"], exclude=["antropic", "Google-GenAI", "mistral"])
    assert [record.getMessage() for record in caplog.records] == [
        "turnspan.instrument knows nothing that is called 'antropic': is 'anthropic' meant?",
        "turnspan.instrument knows nothing that is called 'open_ai': is 'openai' meant?",
    ]
    turnspan.uninstrument()
    caplog.clear()
    known = ["openinference-instrumentation-unheard-of", "turnspan_openai", "turnspan", "threads"]
    turnspan.instrument(only="openai", exclude=known[:1])
    assert {one.name for one in turnspan.instrument(only="openai") if one.enabled} == {"openai"}
    turnspan.uninstrument()
    turnspan.instrument(only=known)
    turnspan.uninstrument()
    assert not caplog.records


MISTAKEN: list[tuple[str, str]] = [
    ("annotate('t')", "turnspan.annotate has no judgment: give outcome"),
    ("annotate('t', comment='')", "turnspan.annotate has no judgment"),
    ("annotate(outcome='used')", "turnspan.annotate: there is no turn or span around it"),
    ("annotate('', outcome='used')", "turnspan.annotate: there is no turn or span around it"),
    ("annotate(5, outcome='used')", "turnspan.annotate .*a turn, a span or an id as text: not 5"),
    ("annotate('t', outcome='great')", "outcome is one of pending, .*: not 'great'"),
    ("annotate('t', score='high')", "score is a finite number: not 'high'"),
    ("annotate('t', score=float('nan'))", "score is a finite number"),
    (
        "annotate('t', score=50)",
        r"score is from 1 to 10 \(a measure of another scale is an evaluation\): not 50",
    ),
    ("annotate('t', training_flag='good')", r"training_flag is 1 \(good\)"),
    ("annotate('t', score=1, confidence='x')", "confidence is a finite number: not 'x'"),
    ("annotate('t', score=1, confidence=2)", "confidence is from 0 to 1: not 2"),
    ("annotate('t', score=1, kind='turns')", "kind is one of turn, .*: not 'turns'"),
    ("evaluation('r', score='high')", "turnspan.evaluation .*score is a finite number"),
    ("evaluation('r', score=1)", "turnspan.evaluation: there is no turn or span around it"),
    ("prefer('a', 'a')", "turnspan.prefer .*nothing is better than itself"),
    ("prefer('a', None)", "turnspan.prefer .*is nothing, or has no id"),
    ("rank('abc')", "turnspan.rank .*what is ranked is a list: not"),
    ("rank(5)", "turnspan.rank .*what is ranked is a list: not 5"),
    ("rank(['a'])", "turnspan.rank has nothing that is better"),
    ("rank(['a', 'b'], ties=['ab'])", "turnspan.rank .*what is ranked is a list: not"),
    ("withdraw('t', 'outcom')", "turnspan.withdraw .*judgment is one of .*: not 'outcom'"),
    ("withdraw(None, 'outcome')", "turnspan.withdraw: there is no turn or span around it"),
    ("extract('x').__enter__()", "turnspan.extract .*ValueError"),
    ("extract(['x']).__enter__()", "turnspan.extract .*ValueError"),
    ("evolve('x', 'a', 'b')", r"turnspan.evolve .*AttributeError"),
    ("insight('p', evolutions=5)", "turnspan.insight .*'int' object is not iterable"),
    ("agent('a', attributes=['x'])", "attributes= .*takes a mapping, not list"),
    ("agent('a', max_rounds='three')", r"turnspan.agent\(max_rounds=\) is a number"),
    ("inference().response(input_tokens='x')", "turnspan.inference .*'str'"),
    ("inference().response(tool_calls=5)", "turnspan.inference .*'int' object is not iterable"),
    ("context_assembly('q', entities=5)", "turnspan.context_assembly .*not iterable"),
]
"""What is given and cannot be used, at functions that never raise."""


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize(("given", "said"), MISTAKEN)
def test_what_never_raises_says_whose_mistake_it_is(
    caplog: pytest.LogCaptureFixture, tmp_path: Any, given: str, said: str
) -> None:
    """It names the public function and what it takes, once, and never says that Turnspan failed."""
    turnspan.configure(
        store=f"chdb://{tmp_path}", exporters=["turnspan"], tracer_provider=TracerProvider()
    )
    try:
        caplog.clear()
        for _ in range(2):
            eval(f"turnspan.{given}", {"turnspan": public})
    finally:
        turnspan.shutdown()
    assert len(caplog.records) == 1, caplog.text
    message = " ".join(caplog.records[0].getMessage().split())
    assert re.search(said, message), message
    assert "Turnspan failed" not in message
    errors.reset()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"service_name": 5}, "service_name must be text"),
        ({"environment": ["x"]}, "environment must be text"),
        ({"store": 5}, "store must be text"),
        ({"exporters": [5]}, "exporters are names or SpanExporters: not 5"),
    ],
)
def test_configure_refuses_what_is_of_another_kind(given: dict[str, Any], said: str) -> None:
    """As errors of its own, not of what it would come to."""
    with pytest.raises(ConfigError, match=said):
        public.configure(**given)
    assert not turnspan.flush().accounts.queued
