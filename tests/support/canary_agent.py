"""An application with a secret in every place that Turnspan could write down.

Run in a process of its own with the model stub's URL; where metrics go to a file, its path follows.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from pathlib import Path
from typing import Any

from opentelemetry import baggage, context, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.trace import Status, StatusCode

sys.path.insert(0, str(Path(__file__).parents[1]))

import turnspan
from support.canaries import hook, metadata, said


class Hostile:
    """An argument that cannot be read, and says so with a secret."""

    def __repr__(self) -> str:
        raise ValueError(said("repr"))


class Long:
    """An argument whose description is cut in the middle of a secret."""

    def __repr__(self) -> str:
        return "x" * 1_985 + said("long repr")


@turnspan.tool
def look_up(query: Any) -> dict[str, Any]:
    """Look something up."""
    return {"found": [said("tool result")], metadata("result key"): 1}


@turnspan.tool
def broken(query: Any) -> None:
    """Fail, with a secret where the message is cut."""
    raise ValueError("x" * 470 + said("tool error"))


TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "description": said("tool definition"),
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        },
    }
]


def by_sdk(url: str) -> None:
    """Calls of the real SDKs: answered, streamed and refused."""
    import openai

    client = openai.OpenAI(api_key=metadata("api key").split()[2], base_url=f"{url}/v1")
    messages: list[Any] = [
        {"role": "system", "content": said("system prompt")},
        {"role": "user", "content": said("prompt")},
    ]
    create: Any = client.chat.completions.create
    create(model="gpt-4o", messages=messages, tools=TOOLS, user=said("request user"))
    for _ in create(model="gpt-4o", messages=messages, stream=True):
        pass
    refused = client.with_options(max_retries=0)
    with contextlib.suppress(openai.RateLimitError):
        refused.chat.completions.create(model="refuse", messages=messages)


def by_hand() -> None:
    """Calls recorded by hand: a reply with secrets, and an exception with secrets."""
    ask = [{"role": "user", "content": said("second prompt")}]
    requested = {"id": "c1", "name": "look_up", "arguments": '{"q": "' + said("tool call") + '"}'}
    with turnspan.inference(
        provider="mine", model="m-7b", system=said("system"), messages=ask
    ) as call:
        call.response(
            text=said("reply"),
            thoughts=said("thoughts"),
            tool_calls=[requested],
            input_tokens=11,
            output_tokens=7,
            finish_reason="stop",
        )
    with (
        contextlib.suppress(ValueError),
        turnspan.inference(provider="mine", model="m-7b", messages=ask),
    ):
        raise ValueError(said("model error"))


def by_others() -> None:
    """Spans of other instrumentations: a plain one, and two that speak a dialect."""
    tracer = trace.get_tracer("acme.http", attributes={"team": metadata("scope attribute")})
    with tracer.start_as_current_span(metadata("span name")) as span:
        span.set_attribute("http.note", metadata("third-party attribute"))
        span.set_attribute(metadata("attribute name"), [metadata("item"), metadata("item 2")])
        span.add_event(metadata("event name"), {"note": metadata("event attribute")})
        span.record_exception(ValueError(said("recorded exception")))
        span.set_status(Status(StatusCode.ERROR, "x" * 4_085 + said("third-party status")))
    with trace.get_tracer("openinference.acme").start_as_current_span("llm") as span:
        span.set_attribute("openinference.span.kind", "LLM")
        span.set_attribute("llm.model_name", "m-7b")
        span.set_attribute("llm.input_messages.0.message.role", "user")
        span.set_attribute("llm.input_messages.0.message.content", said("foreign prompt"))
        span.set_attribute("output.value", said("foreign reply"))
    with trace.get_tracer("acme.llm").start_as_current_span("chat m-7b") as span:
        span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-7b"})
        span.set_attribute("gen_ai.usage.input_tokens", 5)
        span.add_event("gen_ai.user.message", {"content": said("foreign event")})


def by_loop() -> None:
    """An experiment: what is said of it, what it is configured with, what it wrote."""
    camp = turnspan.experiment(
        metadata("experiment"), need=metadata("need"), constraints={"a": metadata("constraint")}
    )
    lineage = camp.lineage(
        metadata("label"),
        strategy=metadata("strategy"),
        directive=metadata("directive"),
        author=metadata("author"),
    )
    first = lineage.version({"system_prompt": said("config")}, name=metadata("version name"))
    second = lineage.version({"system_prompt": said("other config"), metadata("part"): 1})
    with lineage.rollout(1, task=metadata("rollout task")) as rollout:
        with contextlib.suppress(ValueError), rollout.attempt(model=metadata("attempt model")):
            raise ValueError("x" * 4_085 + said("attempt error"))
        parameters = {"stop": metadata("attempt parameter")}
        with rollout.attempt(parameters=parameters, input=said("attempt input")) as attempt:
            attempt.set(output={"answer": said("attempt output")})
            turnspan.artifact(metadata("page"), said("artifact"), kind=metadata("artifact kind"))
            by_hand()
    with lineage.rollout(2, version=metadata("version")).attempt() as attempt:
        attempt.fail(said("reason"))
    turnspan.evolve(
        *(lineage, first, second),
        trigger=metadata("trigger"),
        hypothesis=metadata("hypothesis"),
        plan=metadata("plan"),
        changes={metadata("kind of change"): metadata("change")},
    )
    turnspan.insight(metadata("pattern"), change=metadata("kind"), experiment=camp)


@turnspan.agent("shopper")
def agent(message: Any, url: str) -> str:
    """One turn with everything in it."""
    turn = turnspan.current_turn()
    turn.set(target=metadata("target"), task_type=metadata("task"), note=metadata("turn note"))
    by_sdk(url)
    look_up({"q": said("tool argument"), metadata("argument key"): Long()})
    look_up(Hostile())
    with contextlib.suppress(ValueError):
        broken(said("argument"))
    with turnspan.tool("manual", arguments={"a": said("manual argument")}) as handle:
        handle.fail(said("manual failure"))
    by_hand()
    by_others()
    with turnspan.step(metadata("step name")) as step:
        step.set(note=metadata("step attribute"))
    turn.stop("done", metadata("stop detail"))
    return said("returned")


@turnspan.agent("failing")
def failing_agent(message: str) -> None:
    """A turn that raises."""
    raise ValueError("x" * 1_900 + said("agent error"))


def main() -> None:
    """Run the turns and leave; the exit handlers flush."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    logging.getLogger("turnspan").setLevel(logging.DEBUG)
    reader = InMemoryMetricReader()
    turnspan.configure(
        service_name="shop",
        exporters=["turnspan", "otlp", "console"],
        redact=hook,
        meter_provider=MeterProvider([reader]),
        resource_attributes={"team.note": metadata("resource")},
    )
    turnspan.instrument()
    token = context.attach(baggage.set_baggage("note", metadata("baggage")))
    session = turnspan.session(
        metadata("session"), user_id=metadata("user"), ticket=metadata("session attribute")
    )
    with session:
        agent(said("user message"), sys.argv[1])
        with contextlib.suppress(ValueError):
            failing_agent(said("user message"))
        with turnspan.workflow("checkout", attributes={"note": metadata("workflow note")}):
            by_hand()
    by_loop()
    context.detach(token)
    by_sdk(sys.argv[1])  # outside any turn: derived ones
    print(turnspan.flush(30), file=sys.stderr)
    data = reader.get_metrics_data()
    Path(sys.argv[2]).write_text("" if data is None else data.to_json())
    turnspan.shutdown()


if __name__ == "__main__":
    main()
