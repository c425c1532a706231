"""The clients, and what each can ask: a function of the client for every kind of API it has."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from clients.provider import Provider
from support.plain_clients import CLIENTS as PLAIN

HI: list[Any] = [{"role": "user", "content": "hi"}]
AWS_HI: list[Any] = [{"role": "user", "content": [{"text": "hi"}]}]
WAV = ("a.wav", b"RIFF", "audio/wav")
PNG = ("a.png", b"\x89PNG", "image/png")
Ask = Callable[[Any], Any]


class Client(NamedTuple):
    """A client of models."""

    make: Callable[[str], Any]
    """Given the provider's address."""
    kinds: dict[str, Ask]
    address: str = "url"
    """Which of the provider's addresses it is given."""


def _stainless(module: str, name: str, end: str = "", **more: Any) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        kind = getattr(import_module(module), name)
        return kind(api_key="k", base_url=url + end, max_retries=0, **more)

    return make


OPENAI: dict[str, Ask] = {
    "chat": lambda c: c.chat.completions.create(model="m", messages=HI),
    "chat, streamed": lambda c: c.chat.completions.create(model="m", messages=HI, stream=True),
    "chat, raw": lambda c: c.chat.completions.with_raw_response.create(model="m", messages=HI),
    "responses": lambda c: c.responses.create(model="m", input="hi"),
    "responses, streamed": lambda c: c.responses.create(model="m", input="hi", stream=True),
    "completions": lambda c: c.completions.create(model="m", prompt="hi"),
    "embeddings": lambda c: c.embeddings.create(model="m", input="hi"),
    "images": lambda c: c.images.generate(model="m", prompt="hi"),
    "image edit": lambda c: c.images.edit(model="m", prompt="hi", image=PNG),
    "speech": lambda c: c.audio.speech.create(model="m", input="hi", voice="a"),
    "transcription": lambda c: c.audio.transcriptions.create(model="m", file=WAV),
    "translation": lambda c: c.audio.translations.create(model="m", file=WAV),
    "moderation": lambda c: c.moderations.create(model="m", input="hi"),
    "video": lambda c: c.videos.create(model="m", prompt="hi"),
    "batch": lambda c: c.batches.create(
        input_file_id="f", endpoint="/v1/responses", completion_window="24h"
    ),
    "fine tuning": lambda c: c.fine_tuning.jobs.create(model="m", training_file="f"),
    "upload": lambda c: c.files.create(file=("a.jsonl", b"{}"), purpose="batch"),
    "models": lambda c: c.models.list(),
}
ANTHROPIC: dict[str, Ask] = {
    "messages": lambda c: c.messages.create(model="m", messages=HI, max_tokens=9),
    "messages, streamed": lambda c: c.messages.create(
        model="m", messages=HI, max_tokens=9, stream=True
    ),
    "beta messages": lambda c: c.beta.messages.create(model="m", messages=HI, max_tokens=9),
    "batch": lambda c: c.messages.batches.create(
        requests=[{"custom_id": "c", "params": {"model": "m", "messages": HI, "max_tokens": 9}}]
    ),
    "count tokens": lambda c: c.messages.count_tokens(model="m", messages=HI),
    "models": lambda c: c.models.list(),
}
GEMINI: dict[str, Ask] = {
    "generate": lambda c: c.models.generate_content(model="m", contents="hi"),
    "generate, streamed": lambda c: c.models.generate_content_stream(model="m", contents="hi"),
    "embeddings": lambda c: c.models.embed_content(model="m", contents="hi"),
    "interactions": lambda c: c.interactions.create(model="m", input="hi"),
    "batch": lambda c: c.batches.create(model="m", src=[{"contents": [{"parts": []}]}]),
    "count tokens": lambda c: c.models.count_tokens(model="m", contents="hi"),
    "models": lambda c: c.models.get(model="m"),
}
VERTEX: dict[str, Ask] = {
    **{key: GEMINI[key] for key in ("generate", "generate, streamed", "embeddings")},
    "images": lambda c: c.models.generate_images(model="m", prompt="hi"),
    "video": lambda c: c.models.generate_videos(model="m", prompt="hi"),
    "count tokens": GEMINI["count tokens"],
}
MISTRAL: dict[str, Ask] = {
    "chat": lambda c: c("chat.complete", model="m", messages=HI),
    "chat, streamed": lambda c: c("chat.stream", model="m", messages=HI),
    "embeddings": lambda c: c("embeddings.create", model="m", inputs=["hi"]),
    "fim": lambda c: c("fim.complete", model="m", prompt="hi"),
    "agents": lambda c: c("agents.complete", agent_id="a", messages=HI),
    "conversation": lambda c: c("beta.conversations.start", inputs="hi", model="m"),
    "ocr": lambda c: c(
        "ocr.process", model="m", document={"type": "document_url", "document_url": "http://x"}
    ),
    "moderation": lambda c: c("classifiers.moderate", model="m", inputs=["hi"]),
    "speech": lambda c: c("audio.speech.complete", model="m", input="hi"),
    "transcription": lambda c: c(
        "audio.transcriptions.complete", model="m", file_url="http://x/a.wav"
    ),
    "batch": lambda c: c("batch.jobs.create", model="m", endpoint="/v1/chat/completions"),
    "models": lambda c: c("models.list"),
}
COHERE: dict[str, Ask] = {
    "chat": lambda c: c.chat(model="m", messages=HI),
    "chat, streamed": lambda c: c.chat_stream(model="m", messages=HI),
    "embeddings": lambda c: c.embed(
        model="m", texts=["hi"], input_type="search_query", embedding_types=["float"]
    ),
    "rerank": lambda c: c.rerank(model="m", query="hi", documents=["a"]),
    "classify": lambda c: c.classify(model="m", inputs=["hi"]),
    "embed job": lambda c: c.embed_jobs.create(model="m", dataset_id="d", input_type="clustering"),
    "tokenize": lambda c: c.tokenize(model="m", text="hi", offline=False),
    "models": lambda c: c.models.list(),
}
GROQ: dict[str, Ask] = {
    **{key: OPENAI[key] for key in ("chat", "chat, streamed", "embeddings", "batch", "models")},
    **{key: OPENAI[key] for key in ("speech", "transcription", "translation")},
}
TOGETHER: dict[str, Ask] = {
    **{key: OPENAI[key] for key in ("chat", "chat, streamed", "completions", "embeddings")},
    **{key: OPENAI[key] for key in ("images", "speech", "transcription", "models")},
    "rerank": lambda c: c.rerank.create(model="m", query="hi", documents=["a"]),
    "batch": lambda c: c.batches.create(input_file_id="f", endpoint="/v1/chat/completions"),
}
HUGGING_FACE: dict[str, Ask] = {
    "chat": lambda c: c.chat_completion(messages=HI),
    "chat, streamed": lambda c: c.chat_completion(messages=HI, stream=True),
}
HUGGING_FACE_TASKS: dict[str, Ask] = {
    "generation": lambda c: c.text_generation("hi"),
    "embeddings": lambda c: c.feature_extraction("hi"),
    "images": lambda c: c.text_to_image("hi"),
    "speech": lambda c: c.text_to_speech("hi"),
    "transcription": lambda c: c.automatic_speech_recognition(b"RIFF"),
    "classify": lambda c: c.text_classification("hi"),
}
OLLAMA: dict[str, Ask] = {
    "chat": lambda c: c.chat(model="m", messages=HI),
    "chat, streamed": lambda c: c.chat(model="m", messages=HI, stream=True),
    "generate": lambda c: c.generate(model="m", prompt="hi"),
    "generate, streamed": lambda c: c.generate(model="m", prompt="hi", stream=True),
    "embeddings": lambda c: c.embed(model="m", input="hi"),
    "old embeddings": lambda c: c.embeddings(model="m", prompt="hi"),
    "show": lambda c: c.show(model="m"),
    "models": lambda c: c.list(),
}
_CLAUDE = json.dumps({"messages": HI, "max_tokens": 9, "anthropic_version": "bedrock-2023-05-31"})
BEDROCK: dict[str, Ask] = {
    "converse": lambda c: c.converse(modelId="amazon.nova-lite-v1:0", messages=AWS_HI),
    "converse, streamed": lambda c: c.converse_stream(
        modelId="amazon.nova-lite-v1:0", messages=AWS_HI
    )["stream"],
    "invoke": lambda c: c.invoke_model(modelId="anthropic.claude-3", body=_CLAUDE)["body"].read(),
    "invoke, streamed": lambda c: c.invoke_model_with_response_stream(
        modelId="anthropic.claude-3", body=_CLAUDE
    )["body"],
    "invoke another": lambda c: c.invoke_model(modelId="some.model", body="{}")["body"].read(),
    "async invoke": lambda c: c.start_async_invoke(
        modelId="m", modelInput={}, outputDataConfig={"s3OutputDataConfig": {"s3Uri": "s3://b"}}
    ),
    "guardrail": lambda c: c.apply_guardrail(
        guardrailIdentifier="g",
        guardrailVersion="1",
        source="INPUT",
        content=[{"text": {"text": "hi"}}],
    ),
    "count tokens": lambda c: c.count_tokens(modelId="m", input={"converse": {"messages": AWS_HI}}),
}


def _bedrock(url: str) -> Any:
    return import_module("boto3").client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )


def _gemini(url: str, *, vertex: bool = False) -> Any:
    options = {"base_url": url}
    genai = import_module("google.genai")
    return genai.Client(api_key="k", vertexai=vertex, http_options=options)


def _gemini_async(url: str) -> Any:
    return _gemini(url).aio


def _mistral(end: str) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        client = import_module("mistralai.client").Mistral(api_key="k", server_url=url)

        def call(path: str, **kwargs: Any) -> Any:
            owner: Any = client
            for name in f"{path}{end}".split("."):
                owner = getattr(owner, name)
            return owner(**kwargs)

        return call

    return make


def _cohere(name: str) -> Callable[[str], Any]:
    return lambda url: getattr(import_module("cohere"), name)(api_key="k", base_url=url)


def _ollama(name: str) -> Callable[[str], Any]:
    return lambda url: getattr(import_module("ollama"), name)(host=url)


def _hugging_face(name: str, *, task: bool = False) -> Callable[[str], Any]:
    def make(url: str) -> Any:
        kind = getattr(import_module("huggingface_hub"), name)
        return kind(model=f"{url}/models/m/feature-extraction") if task else kind(base_url=url)

    return make


def _litellm(prefix: str) -> dict[str, Ask]:
    """Calls of litellm's functions; the client is the address."""

    def call(name: str, model: str, **kwargs: Any) -> Ask:
        def ask(url: str) -> Any:
            function = getattr(import_module("litellm"), f"{prefix}{name}")
            end = "" if model.startswith("anthropic") else "/v1"
            return function(model=model, api_base=url + end, api_key="k", max_retries=0, **kwargs)

        return ask

    chat: dict[str, Any] = {"messages": HI}
    return {
        "chat": call("completion", "openai/m", **chat),
        "chat, streamed": call("completion", "openai/m", stream=True, **chat),
        "chat, anthropic": call("completion", "anthropic/m", **chat),
        "chat, anthropic, streamed": call("completion", "anthropic/m", stream=True, **chat),
        "chat, groq": call("completion", "groq/m", **chat),
        "chat, mistral": call("completion", "mistral/m", **chat),
        "responses": call("responses", "openai/m", input="hi"),
        "embeddings": call("embedding", "openai/m", input=["hi"]),
        "images": call("image_generation", "openai/m", prompt="hi"),
        "moderation": call("moderation", "openai/m", input="hi"),
        "speech": call("speech", "openai/m", input="hi", voice="alloy"),
    }


def _plain(name: str) -> Client:
    def post(path: str, **body: Any) -> Ask:
        data = json.dumps({"model": "m", **body}).encode()
        headers = {"content-type": "application/json"}
        return lambda url: PLAIN[name](f"{url}{path}", data, headers)

    kinds = {
        "chat": post("/v1/chat/completions", messages=HI),
        "chat, streamed": post("/v1/chat/completions", messages=HI, stream=True),
        "responses": post("/v1/responses", input="hi"),
        "messages": post("/v1/messages", messages=HI, max_tokens=9),
        "generate": post("/v1beta/models/m:generateContent", contents=[]),
        "ollama": post("/api/chat", messages=HI),
        "cohere": post("/v2/chat", messages=HI),
        "converse": post("/model/amazon.nova-lite-v1:0/converse", messages=AWS_HI),
        "embeddings": post("/v1/embeddings", input="hi"),
        "images": post("/v1/images/generations", prompt="hi"),
        "speech": post("/v1/audio/speech", input="hi", voice="a"),
        "moderation": post("/v1/moderations", input="hi"),
        "rerank": post("/v1/rerank", query="hi", documents=["a"]),
        "message batch": post("/v1/messages/batches", requests=[]),
        "elsewhere": post("/orders"),
    }
    return Client(str, kinds)


def _httpcore(url: str) -> None:
    with import_module("httpcore").ConnectionPool() as pool:
        content = json.dumps({"model": "m", "messages": HI}).encode()
        headers = {"content-type": "application/json"}
        pool.request("POST", f"{url}/v1/chat/completions", content=content, headers=headers)


_REALTIME = "/v1/realtime?model=m"


def _socket(url: str) -> None:
    with import_module("websockets.sync.client").connect(url + _REALTIME):
        pass


def _aiohttp_socket(url: str) -> None:
    async def opened() -> None:
        session: Any = import_module("aiohttp").ClientSession()
        async with session, session.ws_connect(url + _REALTIME):
            pass

    asyncio.run(opened())


def _grpc(address: str) -> None:
    service = "/google.ai.generativelanguage.v1beta.GenerativeService"
    with import_module("grpc").insecure_channel(address) as channel:
        channel.unary_unary(f"{service}/GenerateContent")(b"")


CLIENTS: dict[str, Client] = {
    "openai": Client(_stainless("openai", "OpenAI", "/v1"), OPENAI),
    "openai, asynchronous": Client(_stainless("openai", "AsyncOpenAI", "/v1"), OPENAI),
    "anthropic": Client(_stainless("anthropic", "Anthropic"), ANTHROPIC),
    "anthropic, asynchronous": Client(_stainless("anthropic", "AsyncAnthropic"), ANTHROPIC),
    "google-genai": Client(_gemini, GEMINI),
    "google-genai, asynchronous": Client(_gemini_async, GEMINI),
    "google-genai, Vertex AI": Client(partial(_gemini, vertex=True), VERTEX),
    "mistralai": Client(_mistral(""), MISTRAL),
    "mistralai, asynchronous": Client(_mistral("_async"), MISTRAL),
    "cohere": Client(_cohere("ClientV2"), COHERE),
    "cohere, asynchronous": Client(_cohere("AsyncClientV2"), COHERE),
    "groq": Client(_stainless("groq", "Groq"), GROQ),
    "groq, asynchronous": Client(_stainless("groq", "AsyncGroq"), GROQ),
    "together": Client(_stainless("together", "Together", "/v1", project_id="p"), TOGETHER),
    "together, asynchronous": Client(
        _stainless("together", "AsyncTogether", "/v1", project_id="p"), TOGETHER
    ),
    "ollama": Client(_ollama("Client"), OLLAMA),
    "ollama, asynchronous": Client(_ollama("AsyncClient"), OLLAMA),
    "huggingface_hub": Client(_hugging_face("InferenceClient"), HUGGING_FACE),
    "huggingface_hub, asynchronous": Client(_hugging_face("AsyncInferenceClient"), HUGGING_FACE),
    "huggingface_hub, tasks": Client(
        _hugging_face("InferenceClient", task=True), HUGGING_FACE_TASKS
    ),
    "boto3": Client(_bedrock, BEDROCK),
    "litellm": Client(str, _litellm("")),
    "litellm, asynchronous": Client(
        str, {key: ask for key, ask in _litellm("a").items() if key != "images"}
    ),
    **{name: _plain(name) for name in PLAIN},
    "httpcore": Client(str, {"chat": _httpcore}),
    "websockets": Client(str, {"realtime": _socket}, "socket_url"),
    "aiohttp, WebSocket": Client(str, {"realtime": _aiohttp_socket}, "socket_url"),
    "grpc": Client(str, {"generate": _grpc}, "grpc_address"),
}


def run(name: str, kind: str, provider: Provider) -> None:
    """Ask, wait, and read a stream to its end."""
    client = CLIENTS[name]
    address = getattr(provider, client.address)
    if name.endswith("asynchronous") and name not in PLAIN:
        asyncio.run(_run_async(client, kind, address))
        return
    made = client.make(address)
    result = client.kinds[kind](made)
    if _is_stream(result):
        for _ in result:
            pass
    if not isinstance(made, str) and hasattr(made, "close"):
        made.close()


async def _run_async(client: Client, kind: str, address: str) -> None:
    made = client.make(address)
    result = client.kinds[kind](made)
    if inspect.isawaitable(result):
        result = await result
    if _is_stream(result):
        async for _ in result:
            pass
    close = getattr(made, "close", None) or getattr(made, "aclose", None)
    closed = close() if close is not None else None
    if inspect.isawaitable(closed):
        await closed


def _is_stream(result: Any) -> bool:
    """Whether it comes in pieces: an iterator, or one of boto3's streams."""
    return (
        hasattr(result, "__anext__")
        or hasattr(result, "__next__")
        or type(result).__name__ in _STREAMS
    )


_STREAMS = ("EventStream", "Stream", "AsyncStream", "CustomStreamWrapper", "EventStreamAsync")
