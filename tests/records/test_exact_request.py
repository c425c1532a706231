"""The exact request of a call is the body that was recorded on the wire, and what is copied of it
sends that body again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest

from support.cassettes import recorded_calls
from support.landing import insert
from support.representatives import first_on
from support.rows import call
from support.shared import enough
from turnspan import config, semconv
from turnspan.content.media import digest_media
from turnspan.tracing.content_store import ContentStore, InferenceContent
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing.spans import resource_of, scope_of, span_of
from turnspan_records.messages import ContentMissingError
from turnspan_records.screens.request import Alteration, ExactRequest, exact_request
from turnspan_records.screens.request_code import NoCodeError, as_curl, as_python

PROJECT = "wire"
HOSTILE = (
    "'; touch stolen; echo '$(touch stolen)`touch stolen`\"\\\n"  # for a shell and for Python
    "'''!!\x1b[31m\u202e\0\nEND_OF_REQUEST\n"
)
KEY = "sk-proj-" + "aB3dE6gH9j" * 5


def land(store: Store, requests: list[tuple[str, Any]], **settings: Any) -> list[str]:
    """Record calls with these bodies the way an application's are; returns their spans."""
    contents, batch = ContentStore(), Batch("test", 1)
    contents.attach()
    chosen = config.resolve(settings)
    normaliser = Normaliser(contents, settings=lambda: chosen)
    resource, scope, ids = resource_of(PROJECT), scope_of("test"), list[str]()
    for number, (dialect, body) in enumerate(requests, 1):
        content = InferenceContent(dialect, body)
        span_id = hash((dialect, number, str(settings))) & (2**63 - 1) | 1
        attributes = {
            semconv.OPERATION_NAME: "chat",
            semconv.PROVIDER_NAME: dialect.partition(".")[0],
            semconv.REQUEST_MODEL: str(body.get("model")),
            semconv.CONVERSATION_ID: f"s{number}",
        }
        at = 1_790_000_000 * 10**9
        span = span_of(f"chat {number}", trace_id=span_id, span_id=span_id, start_time=at,
                       end_time=at + 1, attributes=attributes, resource=resource,
                       scope=scope)  # fmt: skip
        contents.put(span_id, span_id, content)
        assert normaliser.spans([span], batch) == []
        ids.append(f"{span_id:016x}")
    insert(store, *(row for rows in batch.rows.values() for row in rows))
    return ids


@pytest.fixture(scope="module")
def recorded(module_store: Store) -> list[tuple[Any, ExactRequest]]:
    """Each recorded body with the request that is told of it, from a store of each kind."""
    known = {orjson.dumps((one.dialect, one.request)): one for one in recorded_calls()}
    every = 6 if module_store.dsn.embedded else enough(30, 6)
    bodies = [(one.dialect, one.request) for one in known.values()][::every]
    ids = land(module_store, bodies, mask_secrets=False)
    told = [exact_request(module_store, PROJECT, id_) for id_ in ids]
    return [(body, one) for (_, body), one in zip(bodies, told, strict=True)]


def as_sent(body: Any) -> str:
    """JSON in which only the order of keys is free: 1, 1.0 and true differ."""
    return json.dumps(digest_media(body), sort_keys=True)


@first_on("server", "module_store")
def test_every_recorded_body_is_told_as_it_was_sent(
    recorded: list[tuple[Any, ExactRequest]],
) -> None:
    """Of OpenAI's chat and responses and of Anthropic's messages; files by their hashes, and such
    requests say so."""
    assert len(recorded) > enough(20, 2)
    wrong = [body for body, told in recorded if as_sent(told.body) != as_sent(body)]
    assert not wrong, f"{len(wrong)} of {len(recorded)}, the first: {wrong[0]}"
    for body, told in recorded:
        assert told.exact == (digest_media(body) == body), told.altered


class _Recorder(BaseHTTPRequestHandler):
    """Keeps what it is sent and answers with an empty object."""

    got: list[Any]

    def do_POST(self) -> None:
        """Keep the body."""
        body = self.rfile.read(int(self.headers["content-length"]))
        type(self).got.append((self.path, json.loads(body), dict(self.headers)))
        streams = json.loads(body).get("stream") is True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if streams else "application/json")
        self.end_headers()
        self.wfile.write(b"" if streams else b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def wire() -> Iterator[tuple[str, list[Any]]]:
    """The address of a server, and what it was sent."""
    _Recorder.got = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Recorder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", _Recorder.got
    server.shutdown()
    thread.join()
    server.server_close()


def chosen(recorded: list[tuple[Any, ExactRequest]]) -> list[ExactRequest]:
    """Some recorded requests of each API, and hostile and long ones."""
    found: list[ExactRequest] = []
    for dialect in ("openai.chat", "openai.responses", "anthropic.messages"):
        found += [told for _, told in recorded if told.dialect == dialect and told.exact][::12]
        field = "input" if dialect == "openai.responses" else "messages"
        for text in (HOSTILE, HOSTILE * 3_000):
            body = {"model": "m", "max_tokens": 9, field: [{"role": "user", "content": text}],
                    HOSTILE: HOSTILE, "stream": True}  # fmt: skip
            found.append(ExactRequest("1", dialect, "", "elsewhere.example'$(id)", body))
    return found


@first_on("server", "module_store")
def test_a_copied_command_sends_the_same_body(
    recorded: list[tuple[Any, ExactRequest]], wire: tuple[str, list[Any]], tmp_path: Any
) -> None:
    """Whatever was said in it: nothing of it reaches the shell, and no host but the provider's own
    or the user's is called."""
    url, got = wire
    script, requests = (
        ["set -e", 'curl() { command curl -sS --max-time 20 "$@"; }'],
        chosen(recorded),
    )
    for one in requests:
        text = as_curl(one)
        assert "elsewhere.example" not in text and text.isascii()
        assert ("$OPENAI_API_KEY" in text) != ("$ANTHROPIC_API_KEY" in text)
        for host in ("https://api.openai.com/v1", "https://api.anthropic.com"):
            text = text.replace(f"curl {host}", f"curl {url}")
        script.append(text)
    del got[:]
    environment = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2",
                   "OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url}  # fmt: skip
    ended = subprocess.run(["sh"], input="\n".join(script), text=True, cwd=tmp_path, timeout=100,
                           env=environment, capture_output=True)  # fmt: skip
    assert ended.returncode == 0, ended.stderr[:500]
    assert [as_sent(body) for _, body, _ in got] == [as_sent(one.body) for one in requests]
    assert {h.get("authorization", h.get("Authorization")) for _, _, h in got} == {
        "Bearer k1",
        None,
    }
    assert not list(tmp_path.iterdir())


@pytest.mark.release
@first_on("server", "module_store")
def test_a_copied_program_sends_the_same_body(
    recorded: list[tuple[Any, ExactRequest]], wire: tuple[str, list[Any]], tmp_path: Any
) -> None:
    """With the real SDKs, whatever arguments they know."""
    url, got = wire
    requests = chosen(recorded)
    sources = [as_python(one) for one in requests]
    assert all(source.isascii() and "elsewhere.example" not in source for source in sources)
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    program = (
        "import json, warnings\nwarnings.simplefilter('ignore')\n"
        "for source in json.load(open('sources.json')):\n    exec(source, {})\n"
    )
    del got[:]
    environment = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2",
                   "OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url}  # fmt: skip
    ended = subprocess.run([sys.executable, "-c", program], text=True, cwd=tmp_path, timeout=100,
                           env=environment, capture_output=True)  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-800:]
    assert [as_sent(body) for _, body, _ in got] == [as_sent(one.body) for one in requests]
    assert [one.name for one in tmp_path.iterdir()] == ["sources.json"]


def test_it_says_what_is_not_as_it_was_sent(module_store: Store) -> None:
    """A secret that was masked, a text that was cut, an image of which the hash was kept."""
    image = "data:image/png;base64,iVBORw0KGgo="
    body = {
        "model": "m",
        "messages": [
            {"role": "system", "content": f"The key is {KEY}."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": image}}]},
            {"role": "user", "content": "long " * 100},
        ],
    }
    (masked,) = land(module_store, [("openai.chat", body)], content_limit_bytes=200)
    told = exact_request(module_store, PROJECT, masked)
    assert not told.exact and KEY not in str(told.body)
    assert told.altered == (
        Alteration("cut", "message 3", 500),
        Alteration("redacted", "messages[0].content"),
        Alteration("media", "messages[1].content[0].image_url.url", 8),
    )
    assert told.body["messages"][2] == {"role": "user", "content": ("long " * 100)[:200]}
    assert as_curl(told).startswith("# Not as it was sent: 1 cut, 1 redacted, 1 media.")


def test_what_is_not_in_the_store_is_said(module_store: Store) -> None:
    """No such call; a call without content; a message that was pruned; an API without a command."""
    with pytest.raises(KeyError):
        exact_request(module_store, PROJECT, "nobody")
    bare: LlmCall = call("bare", project=PROJECT)
    pruned: LlmCall = call("pruned", project=PROJECT, input_messages=[b"x" * 16],
                           request_parameters="{}")  # fmt: skip
    undefined: LlmCall = call("undefined", project=PROJECT, system_prompt=b"y" * 16,
                              request_parameters="{}")  # fmt: skip
    insert(module_store, bare, pruned, undefined)
    for span, why in (
        ("bare", "capture_content=True"),
        ("pruned", "1 of the 1 messages"),
        ("undefined", "system prompt"),
    ):
        with pytest.raises(ContentMissingError, match=why):
            exact_request(module_store, PROJECT, span)
    with pytest.raises(NoCodeError, match="gemini"):
        as_curl(ExactRequest("1", "gemini", "", "", {}))


def test_a_request_in_the_conventions_form_is_not_called_exact(store: Store) -> None:
    """What another package's span tells is complete, but in no provider's own form."""
    body = {"messages": [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]}
    [id_] = land(store, [("genai", body)])
    told = exact_request(store, PROJECT, id_)
    assert not told.altered
    assert not told.exact
