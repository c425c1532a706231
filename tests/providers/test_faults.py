"""A fault in any function of ours costs telemetry; the caller gets what an untraced call gives.

Every function and method of the modules between a patched SDK and the span is made to raise, one at
a time, under a plain call, a failing call, a stream and a raw response, synchronous and not.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import anthropic
import openai
import pytest
from opentelemetry.sdk.trace import Span, Tracer, TracerProvider

import turnspan
from support import gemini_bodies, interaction_bodies
from support.google_sdk import errors as google_errors
from support.google_sdk import genai
from support.model_replies import chat, chat_stream, message, message_stream
from support.realtime_events import (
    audio,
    created,
    encoded,
    failure,
    listening,
    said,
    session,
    spoken,
    transcribed,
)
from support.representatives import few
from support.sdks import BROKEN, chat_helper
from support.socket_server import LOST, socket_server
from turnspan import config
from turnspan.content import snapshot
from turnspan.patching import frame, stainless, stream
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.providers import background
from turnspan.providers.anthropic import instrumentor as anthropic_provider
from turnspan.providers.anthropic import messages
from turnspan.providers.google_genai import (
    content as gemini_content,
)
from turnspan.providers.google_genai import (
    embeddings,
    instrumentor,
    interaction_calls,
    interactions,
)
from turnspan.providers.google_genai import (
    tools as google_tools,
)
from turnspan.providers.openai import chat as openai_chat
from turnspan.providers.openai import connections, realtime, realtime_session, sockets
from turnspan.providers.openai import instrumentor as openai_provider
from turnspan.runtime import otel_private, type_guards
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer
from turnspan.tracing import (
    begin_call,
    content_store,
    context,
    endpoint,
    model_call,
    otel_fast,
    request_parameters,
    state,
)
from turnspan.tracing.state import default
from turnspan.turn.turn import TokenUsage, Turn

pytestmark = pytest.mark.tests_internal_errors

HELLO: list[Any] = [{"role": "user", "content": "hi"}]

_MODULES: tuple[ModuleType, ...] = (
    begin_call,
    model_call,
    endpoint,
    stream,
    request_parameters,
    frame,
    stainless,
    openai_provider,
    openai_chat,
    connections,
    sockets,
    realtime,
    realtime_session,
    anthropic_provider,
    messages,
    instrumentor,
    google_tools,
    gemini_content,
    embeddings,
    interaction_calls,
    interactions,
    background,
    snapshot,
    type_guards,
    otel_fast,
    otel_private,
    state,
)
_OTHERS: tuple[tuple[Any, str], ...] = (
    (config, "active"),
    (context, "scope_attributes"),
    (content_store.ContentStore, "put"),
    (content_store.InferenceContent, "__init__"),
    (Turn, "begin_call"),
    (Turn, "end_call"),
    (Turn, "fail_call"),
    (TokenUsage, "__init__"),
    (Tracer, "start_span"),
    (Span, "set_attributes"),
    (Span, "set_status"),
    (Span, "end"),
    (Span, "get_span_context"),
)
_OUTERMOST = {
    # The wrappers themselves: what calls the user's function, outside every guard.
    *(
        f"Sdk.{name}"
        for name in ("close", "aclose", "_aclose", "parse", "aparse", "_aparse", "retry")
    ),
    "Frame.call",
    "Frame.acall",
    "AnthropicSdk.own_span",
    *(f"GoogleSdk.{name}" for name in ("streamed", "astreamed", "_astreamed", "sent")),
    *(f"AutomaticFunctions.{name}" for name in ("answer", "aanswer", "_aanswer")),
    "_from",
    # Runs when patching, not on the way of a call.
    "Sdk.wrap_others",
    "helper_close",
    "known_streams",
    "patch_connections",
    "_patch",
    "AutomaticFunctions.patch",
    "patch_interactions",
}


Scene = Callable[[openai.OpenAI, ModelServer], Any]


class Boom(Exception):
    """The fault."""


class Unwinding(BaseException):
    """The same of the kind that an ``except Exception`` lets through."""


def _seams() -> Iterator[tuple[str, Any, str]]:
    for module in _MODULES:
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value) and name not in _OUTERMOST:
                yield f"{module.__name__}.{name}", module, name
            elif inspect.isclass(value) and _on_the_way(value):
                for method, function in vars(value).items():
                    spelled = f"{name}.{method}"
                    dunder = method.startswith("__") and method != "__init__"
                    if inspect.isfunction(function) and not dunder and spelled not in _OUTERMOST:
                        yield f"{module.__name__}.{spelled}", value, method
    for owner, name in _OTHERS:
        yield f"{getattr(owner, '__name__', owner)}.{name}", owner, name


def _on_the_way(kind: Any) -> bool:
    """Not protocols, which have no code, nor instrumentors, which are done when a call is made."""
    return not kind.__name__.endswith("Instrumentor") and not getattr(kind, "_is_protocol", False)


SEAMS = {name: (owner, attribute) for name, owner, attribute in _seams()}


@pytest.fixture(params=few([Boom, Unwinding], [Boom]))
def kind(request: pytest.FixtureRequest) -> type[BaseException]:
    """What a fault raises."""
    found: type[BaseException] = request.param
    return found


@pytest.fixture
def broken(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> list[str]:
    """Has one seam raise; returns where it was reached."""
    owner, name = SEAMS[request.param]
    if (owner, name) in _OTHERS:  # others call it as well
        kind = Boom
    reached: list[str] = []

    def boom(*args: Any, **kwargs: Any) -> Any:
        reached.append(request.param)
        raise kind(request.param)

    for holder in _holders(owner, name):
        monkeypatch.setattr(holder, name, boom)
    return reached


def _holders(owner: Any, name: str) -> list[Any]:
    """Where a seam is found: its module or class, and modules that imported it by name."""
    original = getattr(owner, name)
    if not isinstance(owner, ModuleType):
        return [owner]
    return [
        owner,
        *(one for one in _MODULES if one is not owner and vars(one).get(name) is original),
    ]


def plain(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A completion."""
    server.answer(chat())
    return gpt.chat.completions.create(model="m", messages=HELLO, stop=["x"]).model_dump()


def failing(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """An error of the API, after a retry."""
    server.answer({"error": {}}, status=500, retry_after_ms="1")
    server.answer({"error": {"message": "no", "code": "nope"}}, status=400)
    with pytest.raises(openai.BadRequestError) as caught:
        gpt.with_options(max_retries=1).chat.completions.create(model="m", messages=HELLO)
    return (caught.value.code, str(caught.value), caught.value.__cause__)


def streamed(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A stream read, one left, the helper."""
    result: list[Any] = []
    server.stream(chat_stream("Hel", "lo"))
    opened = gpt.chat.completions.create(model="m", messages=HELLO, stream=True)
    result += [type(opened).__name__, *(part.model_dump() for part in opened)]
    server.stream(chat_stream("Hel", "lo"))
    with gpt.chat.completions.create(model="m", messages=HELLO, stream=True) as left:
        result.append(next(iter(left)).model_dump())
    server.stream(chat_stream("Hel", "lo"))
    with chat_helper(gpt)(model="m", messages=HELLO) as helper:
        result.append(helper.get_final_completion().choices[0].message.content)
    return result


def breaking(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A stream that breaks, after two chunks."""
    server.stream(chat_stream("Hel", "lo"), stop_after=2)
    opened = gpt.chat.completions.create(model="m", messages=HELLO, stream=True)
    seen = [next(opened).model_dump(), next(opened).model_dump()]
    with pytest.raises(BROKEN) as caught:
        next(opened)
    return seen, str(caught.value)


def raw(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """Raw responses, read and unread."""
    server.answer(chat())
    one = gpt.chat.completions.with_raw_response.create(model="m", messages=HELLO)
    server.answer(chat())
    with gpt.chat.completions.with_streaming_response.create(model="m", messages=HELLO) as two:
        body = two.parse().model_dump()
    return one.parse().model_dump(), one.status_code, body


def asynchronous(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A completion and a stream, asynchronously."""
    server.answer(chat())
    server.stream(chat_stream("Hel", "lo"))

    async def run() -> Any:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            create = client.chat.completions.create
            reply = await create(model="m", messages=HELLO)
            stream = await create(model="m", messages=HELLO, stream=True)
            return reply.model_dump(), [part.model_dump() async for part in stream]

    return asyncio.run(run())


def claude(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A message, a stream and an error, by Anthropic's SDK."""
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        server.answer(message())
        one = client.messages.create(model="m", max_tokens=1, messages=HELLO).model_dump()
        server.stream(message_stream("It ", "may."))
        with client.messages.stream(model="m", max_tokens=1, messages=HELLO) as stream:
            two = stream.get_final_message().model_dump()
        server.answer({"error": {"type": "overloaded_error"}}, status=400)
        with pytest.raises(anthropic.BadRequestError) as caught:
            client.messages.create(model="m", max_tokens=1, messages=HELLO)
    return one, two, str(caught.value)


def weather(city: str) -> str:
    """What the weather is."""
    if city == "Oslo":
        raise KeyError(city)
    return f"sunny in {city}"


weather.__annotations__.update({"city": str, "return": str})  # older SDKs read no texts


def google(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """An answer, a stream, functions that the SDK calls, an embedding and errors."""
    options: Any = {"base_url": server.url}
    client = genai.Client(api_key="k", http_options=options)
    models, tools = client.models, {"tools": [weather]}
    result: list[Any] = []
    asked = [gemini_bodies.call("weather", {"city": city}) for city in ("Rome", "Oslo")]
    server.answer(gemini_bodies.content(*asked))
    server.answer(gemini_bodies.text("Sunny."))
    reply = models.generate_content(model="m", contents="hi", config=tools)
    history: Any = reply.automatic_function_calling_history
    result += [reply.text, [content.model_dump() for content in history]]
    server.stream(gemini_bodies.pieces("It ", "may."))
    result += [c.text for c in models.generate_content_stream(model="m", contents="hi")]
    server.stream(gemini_bodies.pieces("It ", "may."))
    left = models.generate_content_stream(model="m", contents="hi")
    result.append(next(left).text)
    del left
    server.answer({"embeddings": [{"values": [0.5]}]})
    vectors = models.embed_content(model="text-embedding-004", contents="hi").embeddings
    result.append([vector.values for vector in vectors or ()])
    for streaming in (False, True):
        server.answer(gemini_bodies.refusal(400, "INVALID_ARGUMENT"), 400)
        with pytest.raises(google_errors.ClientError) as caught:
            if streaming:
                list(models.generate_content_stream(model="m", contents="hi"))
            else:
                models.generate_content(model="m", contents="hi")
        result.append((caught.value.code, str(caught.value)))
    return result


def agoogle(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """The same asynchronously, with a function that is called in a thread."""
    options: Any = {"base_url": server.url}

    async def run() -> Any:
        models = genai.Client(api_key="k", http_options=options).aio.models
        server.answer(gemini_bodies.content(gemini_bodies.call("weather", {"city": "Rome"})))
        server.answer(gemini_bodies.text("Sunny."))
        config: Any = {"tools": [weather]}
        reply = await models.generate_content(model="m", contents="hi", config=config)
        server.stream(gemini_bodies.pieces("It ", "may."))
        stream = await models.generate_content_stream(model="m", contents="hi")
        texts = [chunk.text async for chunk in stream]
        server.answer(gemini_bodies.refusal(400, "INVALID_ARGUMENT"), 400)
        with pytest.raises(google_errors.ClientError) as caught:
            await models.generate_content(model="m", contents="hi")
        return reply.text, texts, str(caught.value)

    return asyncio.run(run())


def connected(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """A spoken answer, one that is refused and one that breaks; the same asynchronously; and
    responses on a socket."""
    if not hasattr(gpt, "realtime"):
        return None  # of an older SDK
    ask: Any = {"type": "response.create"}
    sound = audio(0.1)
    item: Any = {"type": "conversation.item.create", "item": spoken("item_n", "Well")}
    append: Any = {"type": "input_audio_buffer.append", "audio": encoded(sound)}
    cut = {"item_id": "item_a", "content_index": 0, "audio_end_ms": 50, "event_id": "e"}
    script = (
        *(session(), "response.create", *listening("item_u", 0, 100), *said("item_a", "Hi", sound)),
        *(transcribed("item_u", "Hello"), {"type": "conversation.item.truncated", **cut}),
        *("response.create", failure("broken", type="server_error")),
        *("response.create", created("resp_2"), LOST),
    )
    count = len([step for step in script if isinstance(step, dict)])
    result: list[Any] = []

    async def run(url: str) -> None:
        client = openai.AsyncOpenAI(api_key="k", websocket_base_url=url)
        async with client.realtime.connect(model="m") as connection:
            for event in (item, append, ask, ask, ask):
                await connection.send(event)
            result.extend([(await connection.recv()).model_dump() for _ in range(count)])
            with pytest.raises(Exception, match="close") as caught:
                await connection.recv()
            result.append(str(caught.value))

    with socket_server() as provider, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # websockets', of what the SDK does
        client = openai.OpenAI(api_key="k", websocket_base_url=provider.url)
        provider.play(*script)
        with client.realtime.connect(model="m") as connection:
            for event in (item, append, ask, ask, ask):
                connection.send(event)
            result += [connection.recv().model_dump() for _ in range(count)]
            with pytest.raises(Exception, match="close") as caught:
                connection.recv()
            result.append(str(caught.value))
        provider.play(*script)
        asyncio.run(run(provider.url))
        provider.play("response.create", failure("broken"))
        with client.responses.connect() as socket:
            socket.response.create(model="m", input="Hello")
            result.append(socket.recv().model_dump())
    return result


STEPS = (interaction_bodies.thought_step("Hm."), interaction_bodies.model_output("It ", "may."))


def gemini(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """Interactions: whole, streamed, left, broken, raw, refused, in the background."""
    options: Any = {"base_url": server.url, "retry_options": {"attempts": 1}}
    client = genai.Client(api_key="k", http_options=options)
    made: Any = client.interactions
    asked: dict[str, Any] = {"model": "m", "input": "hi"}
    whole = interaction_bodies.interaction(*STEPS, interaction_bodies.function_call(at="Rome"))
    streaming = {**asked, "stream": True}
    server.answer(whole)
    result: list[Any] = [made.create(**asked).model_dump()]
    server.stream(interaction_bodies.events(whole))
    opened = made.create(**streaming)
    result += [type(opened).__name__, *(event.model_dump() for event in opened)]
    server.stream(interaction_bodies.events(whole))
    with made.create(**streaming) as left:
        result.append(next(left).model_dump())
    server.stream(interaction_bodies.events(whole), stop_after=4)
    broken = made.create(**streaming, automatic_continuation=False)
    with pytest.raises(Exception) as caught:
        result += [event.model_dump() for event in broken]
    result.append(type(caught.value).__name__)
    server.answer(whole)
    result.append(made.with_raw_response.create(**asked).parse().model_dump())
    server.stream(interaction_bodies.events(whole))
    with made.with_streaming_response.create(**streaming) as raw_stream:
        result += [event.model_dump() for event in raw_stream.parse()]
    for extra in ({}, {"stream": True}):
        server.answer(interaction_bodies.refusal("invalid_request"), 400)
        with pytest.raises(Exception) as caught:
            made.create(**asked, **extra)
        result.append((type(caught.value).__name__, str(caught.value)))
    server.answer(interaction_bodies.interaction(status="in_progress"))
    result.append(made.create(**asked, background=True).model_dump())
    server.answer(interaction_bodies.interaction(*STEPS))
    result.append(made.get(id="v1_a").model_dump())
    return result


def agemini(gpt: openai.OpenAI, server: ModelServer) -> Any:
    """The same asynchronously."""
    options: Any = {"base_url": server.url, "retry_options": {"attempts": 1}}
    asked: dict[str, Any] = {"model": "m", "input": "hi"}
    whole = interaction_bodies.interaction(*STEPS)

    async def run() -> Any:
        client = genai.Client(api_key="k", http_options=options)
        made: Any = client.aio.interactions
        server.answer(whole)
        result: list[Any] = [(await made.create(**asked)).model_dump()]
        server.stream(interaction_bodies.events(whole))
        opened = await made.create(**asked, stream=True)
        result += [type(opened).__name__, *[event.model_dump() async for event in opened]]
        server.stream(interaction_bodies.events(whole))
        async with await made.create(**asked, stream=True) as left:
            result.append((await anext(left)).model_dump())
        server.answer(whole)
        async with made.with_streaming_response.create(**asked) as raw_answer:
            result.append((await raw_answer.parse()).model_dump())
        server.answer(interaction_bodies.refusal("invalid_request"), 400)
        with pytest.raises(Exception) as caught:
            await made.create(**asked)
        return [*result, str(caught.value)]

    return asyncio.run(run())


_INTERACTIONS = (gemini, agemini) if find_spec("google.genai._gaos") is not None else ()
_OTHERS_THAN_GOOGLE = (plain, failing, streamed, breaking, raw, asynchronous, claude)
SCENES = (*_OTHERS_THAN_GOOGLE, google, agoogle, connected, *_INTERACTIONS)


@pytest.fixture(scope="module")
def untraced() -> dict[Scene, Any]:
    """What each scene gives without us."""
    results: dict[Scene, Any] = {}
    for scene in SCENES:
        server = ModelServer()
        server.start()
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as gpt:
            results[scene] = scene(gpt, server)
        server.stop()
    return results


@pytest.fixture(scope="module")
def one_server() -> Iterator[ModelServer]:
    """One server and client for all faults: there are many."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def one_gpt(one_server: ModelServer) -> Iterator[openai.OpenAI]:
    """One client for all faults."""
    with openai.OpenAI(base_url=f"{one_server.url}/v1", api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def instrumented() -> Iterator[None]:
    """Both SDKs instrumented, content on."""
    provider = TracerProvider()
    default.content.attach()
    turnspan.instrument(tracer_provider=provider)
    yield
    turnspan.uninstrument()
    default.content.detach()
    provider.shutdown()


@pytest.fixture(scope="module")
def scenes_of(
    instrumented: None, one_server: ModelServer, one_gpt: openai.OpenAI
) -> dict[str, list[Scene]]:
    """The scenes that come by each seam: to play the others would show nothing."""
    found: dict[str, list[Scene]] = {seam: [] for seam in SEAMS}
    playing: list[Scene] = []

    def told(seam: str, original: Any) -> Any:
        def passing(*args: Any, **kwargs: Any) -> Any:
            if playing and playing[-1] not in found[seam]:
                found[seam].append(playing[-1])
            return original(*args, **kwargs)

        return passing

    @turnspan.agent
    def everything() -> None:
        for scene in SCENES:
            playing.append(scene)
            scene(one_gpt, one_server)

    with pytest.MonkeyPatch.context() as patch:
        for seam, (owner, name) in SEAMS.items():
            passing = told(seam, getattr(owner, name))
            for holder in _holders(owner, name):
                patch.setattr(holder, name, passing)
        everything()
    return found


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("broken", few(SEAMS, list(SEAMS)[::8]), indirect=True)
def test_a_fault_costs_telemetry_only(
    request: pytest.FixtureRequest,
    broken: list[str],
    scenes_of: dict[str, list[Scene]],
    untraced: dict[Scene, Any],
    one_server: ModelServer,
    one_gpt: openai.OpenAI,
) -> None:
    """Values, errors and chunks are those of the untraced SDK; the fault is counted, not raised."""

    scenes = scenes_of[request.node.callspec.params["broken"]]

    @turnspan.agent
    def everything() -> dict[Scene, Any]:
        return {scene: scene(one_gpt, one_server) for scene in scenes}

    for scene, result in everything().items():
        assert result == untraced[scene], scene.__name__
    assert not INSIDE.get()  # else no later request would count
    if broken:
        assert errors.counts()


def test_the_seams_are_those_of_the_code() -> None:
    """The list is made from the modules; should it shrink, something is no longer covered."""
    assert len(SEAMS) > 80
    assert {"turnspan.tracing.begin_call.begin", "turnspan.content.snapshot.freeze"} <= set(SEAMS)
