"""The recorded HTTP of ``tests/data/sample``: calls of the real SDKs, as vcrpy and HAR files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
import yaml

from support.google_sdk import genai
from turnspan.testing import ModelRequest, ModelServer, ToolRequest, Usage

HOSTS = {
    "openai": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"name": "weather", "description": "The weather.", "parameters": PARAMETERS}
CALLS = [ToolRequest("weather", {"city": "Oslo"}, "call_1")]
BOTH = [*CALLS, ToolRequest("weather", {"city": "Rome"}, "call_2")]
USED = Usage(120, 30, cache_read_tokens=64, reasoning_tokens=8)
IMAGE = "data:image/png;base64," + "iVBORw0KGgo" * 8
USER = {"role": "user", "content": "What is the weather in Oslo?"}
SYSTEM = {"role": "system", "content": "Be brief."}


class Recording(ModelServer):
    """A model server that keeps what went over it."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[ModelRequest, str, Any]] = []
        self.method = "POST"

    def take(self, request: ModelRequest) -> Any:
        """Answer, and keep both."""
        answer = super().take(request)
        self.kept.append((request, self.method, answer))
        return answer


@contextmanager
def _failing() -> Generator[None]:
    with contextlib.suppress(openai.APIError, anthropic.APIError):
        yield


def _chat(server: Recording) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
    tools: list[Any] = [{"type": "function", "function": TOOL}]
    first = {"id": "call_1", "type": "function"}
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    history: list[Any] = [
        SYSTEM,
        USER,
        {"role": "assistant", "content": None, "tool_calls": [{**first, "function": function}]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky": "grey"}'},
    ]
    seen: list[Any] = [{"type": "text", "text": "What is it?"}]
    image: Any = {
        "role": "user",
        "content": [*seen, {"type": "image_url", "image_url": {"url": IMAGE}}],
    }
    for stream in (False, True):
        more: Any = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}

        def ask(messages: list[Any], more: Any = more, **options: Any) -> None:
            _drain(
                client.chat.completions.create(model="gpt-4o", messages=messages, **options, **more)
            )

        server.reply("Hello, what can I do?", usage=USED)
        ask([SYSTEM, {"role": "user", "content": "Hi"}], temperature=0.5)
        server.reply("I look.", tool_requests=CALLS)
        ask([SYSTEM, USER], tools=tools, tool_choice="auto")
        server.reply(tool_requests=BOTH)
        ask([USER, USER], tools=tools)
        server.reply("It is grey.", usage=USED)
        ask(history, tools=tools)
        server.reply("A sp", finish="length")
        ask([image], max_tokens=2)
    server.error(400, "Invalid value", kind="invalid_request_error")
    with _failing():
        client.chat.completions.create(model="gpt-4o", messages=[])
    server.error(429, "Rate limit reached", kind="tokens")
    with _failing():
        client.chat.completions.create(model="gpt-4o", messages=[USER])  # type: ignore[list-item]


def _responses(server: Recording) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
    tools: list[Any] = [{"type": "function", "strict": True, **TOOL}]
    call = {"type": "function_call", "call_id": "call_1", "name": "weather"}
    result = {"type": "function_call_output", "call_id": "call_1", "output": "grey"}
    image = [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": IMAGE},
    ]
    for stream in (False, True):

        def ask(given: Any, stream: bool = stream, **more: Any) -> None:
            _drain(client.responses.create(model="gpt-5", input=given, stream=stream, **more))

        server.reply("Hello.", usage=USED)
        ask("Hi", instructions="Be brief.")
        server.reply("I look.", tool_requests=CALLS)
        ask([USER], tools=tools)
        server.reply(tool_requests=BOTH)
        ask([USER], tools=tools, parallel_tool_calls=True)
        server.reply("It is grey.", usage=USED)
        ask([USER, {**call, "arguments": '{"city":"Oslo"}'}, result], tools=tools)
        server.reply("A sp", finish="length")
        ask([{"role": "user", "content": image}], max_output_tokens=16)
    server.error(404, "Item not found")
    with _failing():
        client.responses.create(model="gpt-5", input="Hi", previous_response_id="resp_none")
    body = {"id": "resp_9", "object": "response", "created_at": 1, "status": "completed"}
    said: dict[str, Any] = {
        "type": "output_text",
        "text": "Later.",
        "annotations": [],
        "logprobs": [],
    }
    told = {"type": "message", "id": "msg_9", "status": "completed", "role": "assistant"}
    body |= {"model": "gpt-5", "tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
    server.answer({**body, "output": [{**told, "content": [said]}]})
    server.method = "GET"
    client.responses.retrieve("resp_9")
    server.method = "POST"


def _older(server: Recording) -> None:
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
    for given in ("a rake", ["a rake", "a hoe"]):
        server.reply(usage=Usage(4))
        client.embeddings.create(model="text-embedding-3-small", input=given)
    server.reply()
    client.embeddings.create(model="text-embedding-3-small", input="x", encoding_format="float")
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    choice = {"index": 0, "text": " leaves.", "finish_reason": "stop", "logprobs": None}
    body = {"id": "cmpl-1", "object": "text_completion", "created": 1, "choices": [choice]}
    body["model"] = "gpt-3.5-turbo-instruct"
    server.answer({**body, "usage": usage})
    client.completions.create(model="gpt-3.5-turbo-instruct", prompt="A rake for")
    server.stream([body, {**body, "choices": [], "usage": usage}, "[DONE]"])
    options: Any = {"stream": True, "stream_options": {"include_usage": True}}
    _drain(
        client.completions.create(model="gpt-3.5-turbo-instruct", prompt="A rake for", **options)
    )


def _messages(server: Recording) -> None:
    client: Any = anthropic.Anthropic(base_url=server.url, api_key="any", max_retries=0)
    tools = [{"name": "weather", "description": "The weather.", "input_schema": PARAMETERS}]
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    use = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "grey"}
    history = [USER, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    for api in (client.messages, client.beta.messages):
        for stream in (False, True):

            def ask(
                messages: list[Any], api: Any = api, stream: bool = stream, **more: Any
            ) -> None:
                given = {"model": "claude-sonnet-5", "max_tokens": 64, "messages": messages}
                _drain(api.create(**given, **more, **({"stream": True} if stream else {})))

            server.reply("Hello.", usage=Usage(120, 9, 64, 12))
            ask([{"role": "user", "content": "Hi"}], system="Be brief.", stop_sequences=["END"])
            server.reply("I look.", tool_requests=CALLS)
            ask([USER], tools=tools, system=system)
            server.reply(tool_requests=BOTH)
            ask([USER], tools=tools)
            server.reply("It is grey.")
            ask(history, tools=tools)
            server.reply("It is", finish="length")
            ask([USER])
    server.error(400, "max_tokens: must be positive")
    with _failing():
        client.messages.create(model="claude-sonnet-5", max_tokens=0, messages=[USER])


def _contents(server: Recording) -> None:
    options: Any = {"base_url": server.url, "api_version": "v1beta"}
    client: Any = genai.Client(api_key="any", http_options=options)
    models = client.models  # which alone would not keep the client
    schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
    tool = {"function_declarations": [{**TOOL, "parameters": schema}]}
    for method in (models.generate_content, models.generate_content_stream):

        def ask(config: Any = None, method: Any = method, **more: Any) -> None:
            server.reply(**more)
            made = method(model="gemini-2.5-flash", contents=USER["content"], config=config)
            _drain(made)

        ask({"system_instruction": "Be brief.", "temperature": 0.5}, text="Hello.", usage=USED)
        ask({"tools": [tool]}, tool_requests=CALLS)
        ask(text="It is", finish="length")


def _drain(made: Any) -> None:
    if isinstance(made, Iterator) or hasattr(made, "__stream__"):
        list(made)  # pyright: ignore[reportUnknownArgumentType]


PARTS: tuple[tuple[str, str, Callable[[Recording], None]], ...] = (
    ("chat", "openai", _chat),
    ("responses", "openai", _responses),
    ("older", "openai", _older),
    ("messages", "anthropic", _messages),
    ("contents", "gemini", _contents),
)


def write(folder: Path) -> list[dict[str, Any]]:
    """Make the files; returns what the index says of them."""
    (folder / "cassettes" / "turnspan__sample").mkdir(parents=True)
    index: list[dict[str, Any]] = []
    for name, provider, play in PARTS:
        with Recording() as server:
            play(server)
        index.append(_vcrpy(folder, name, provider, server))
        if name in ("messages", "older"):
            index.append(_har(folder, f"{name}-har", provider, server))
    return index


def _entry(path: str, form: str, provider: str) -> dict[str, Any]:
    return {
        "kind": "http_recording",
        "path": path,
        "source": "turnspan",
        "licence": "Apache-2.0",
        "format": form,
        "provider": provider,
    }


def _said(answer: Any) -> tuple[str, str]:
    """Content type and body."""
    if answer.events is not None:
        return "text/event-stream; charset=utf-8", "".join(answer.events)
    return "application/json", answer.body.decode()


def _vcrpy(folder: Path, name: str, provider: str, server: Recording) -> dict[str, Any]:
    interactions: list[Any] = []
    for request, method, answer in server.kept:
        kind, body = _said(answer)
        sent = {
            "body": json.dumps(request.body) if method == "POST" else None,
            "headers": {"content-type": ["application/json"]},
            "method": method,
            "uri": HOSTS[provider] + request.path,
        }
        got = {
            "body": {"string": body},
            "headers": {"content-type": [kind]},
            "status": {"code": answer.status, "message": ""},
        }
        interactions.append({"request": sent, "response": got})
    path = f"cassettes/turnspan__sample/{name}.yaml"
    text = yaml.safe_dump({"interactions": interactions, "version": 1}, sort_keys=False, width=100)
    (folder / path).write_text(text, encoding="utf-8")
    return _entry(path, "vcrpy", provider)


def _har(folder: Path, name: str, provider: str, server: Recording) -> dict[str, Any]:
    """The first few of them, as a browser would keep them."""
    entries: list[Any] = []
    for request, method, answer in server.kept[:3]:
        kind, body = _said(answer)
        headers = [{"name": "Content-Type", "value": kind}]
        sent = {"mimeType": "application/json", "text": json.dumps(request.body)}
        entries.append(
            {
                "request": {
                    "method": method,
                    "url": HOSTS[provider] + request.path,
                    "headers": [],
                    "postData": sent,
                },
                "response": {
                    "status": answer.status,
                    "headers": headers,
                    "content": {"mimeType": kind, "text": body},
                },
            }
        )
    path = f"cassettes/turnspan__sample/{name}.har"
    log = {"log": {"version": "1.2", "creator": {"name": "turnspan"}, "entries": entries}}
    (folder / path).write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
    return _entry(path, "har", provider)
