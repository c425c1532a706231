"""Every request of every SDK has an operation, wherever the SDK's API is served."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any

import pytest

from support.representatives import few
from support.shared import REPOSITORY
from turnspan.wire.formats import format_of
from turnspan.wire.model_request import OperationEndpoint
from turnspan.wire.operations import FREE, asks_a_model_anywhere, operation_of

SCRIPT = runpy.run_path(str(REPOSITORY / ".ci" / "sdk_operations.py"))
TABLE: dict[str, str] = SCRIPT["read_table"]()
IDS = ("file-8Xk2", "0198c1f2-7b3e-7000-8000-3f5a", "org%2Fname-2", "a1:latest%3A9")
OPERATIONS = {
    *("chat", "text_completion", "embeddings", "generate_content", "image_generation", "speech"),
    *("transcription", "translation", "video", "moderation", "batch", "rerank", "fine_tuning"),
    *("realtime", "agent_session", "ocr", "classification", "search", "evaluation", "other"),
    FREE,
}


@pytest.fixture(scope="module")
def sent() -> list[Any]:
    """What all SDKs send."""
    return list(SCRIPT["requests"]())


@pytest.mark.release
def test_no_method_of_an_sdk_is_silent_and_none_is_invented(sent: list[Any]) -> None:
    """Else class what `make sdk-operations ARGS=--write` puts into the table."""
    assert SCRIPT["differences"](TABLE, sent) == ([], [])
    assert SCRIPT["unread"](sent) == []
    assert set(TABLE.values()) <= OPERATIONS
    assert {request.sdk for request in sent} == {sdk.name for sdk in SCRIPT["SDKS"]}


def test_the_page_says_what_the_wire_records(sent: list[Any]) -> None:
    """A request is called recorded if, and only if, there is a format for its path."""
    wrong: set[str] = set()
    for request in sent:
        operation, end = SCRIPT["becomes"](request, TABLE)
        if end == "costs nothing" or request.verb == "WEBSOCKET":
            continue
        base = "" if request.path.startswith(("/api/", "/model/", "^")) else "/v1"
        path = base + filled(request.path, "anthropic.claude-1")
        form = format_of(operation, "", path, {})
        if (end == "recorded") == isinstance(form.endpoint, OperationEndpoint):
            wrong.add(request.pattern)
    assert wrong == set()
    written = REPOSITORY / "docs" / "reference" / "sdk-requests.md"
    assert written.read_text("utf-8") == SCRIPT["page"]()  # by `make reference`


def test_what_the_table_lacks_is_said(sent: list[Any]) -> None:
    """A new method of an SDK, one that is noted and not classed, and one that is gone."""
    without = {key: operation for key, operation in TABLE.items() if key != "POST /videos"}
    assert SCRIPT["differences"](without, sent) == (["POST /videos"], [])
    assert SCRIPT["differences"](TABLE | {"POST /videos": "?"}, sent) == (["POST /videos"], [])
    assert SCRIPT["differences"](TABLE | {"POST /dances": "video"}, sent) == ([], ["POST /dances"])


SENDS = {
    "stainless": r"self\._(?:post|put|patch|get|delete|get_api_list)\(|self\._client\.p\w+\(",
    "speakeasy": r"self\._build_request(?:_async)?\(",
    "fern": r"_wrapper\.httpx_client\.(?:request|stream)\(",
    "ollama": r"self\._request(?:_raw)?\((?!\*|\n?\s*cls)",
    "google": r"_api_client\.(?:async_)?request(?:_streamed)?\(",
    "hub": r"(?:= |return )get_session\(\)\.(?:post|put|patch|get|delete|head|request)\("
    r"|= http_backoff\(",
}
"""How the sources say that they send something, for the eye of a text search."""


READ = [sdk for sdk in SCRIPT["SDKS"] if hasattr(sdk, "reader")]
FIRST = list({sdk.reader: sdk for sdk in reversed(READ)}.values())
"""An SDK of each generator."""
READERS: Any = import_module("sdk_requests")
"""Found since the script put its folder on the path."""


@pytest.mark.parametrize("sdk", few(READ, FIRST), ids=lambda sdk: str(sdk.folder).replace("/", "."))
def test_a_reader_finds_every_call_that_sends(sdk: Any) -> None:
    """No call is missed because it is nested, or has an argument in another place."""
    for path, _ in sdk.files():
        text = path.read_text("utf-8")
        functions = [function for _, function in READERS._functions(ast.parse(text))]
        calls = [call for function in functions for call in ast.walk(function)]
        read = [call for call in calls if isinstance(call, ast.Call) and sdk.reader(call)]
        code = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
        assert len(read) >= len(re.findall(SENDS[sdk.reader.__name__], code)), path


def filled(pattern: str, word: str) -> str:
    """A path of a pattern."""
    return pattern.lstrip("^").replace("{}", word)


@pytest.mark.parametrize("word", IDS)
@pytest.mark.parametrize("base", ["/v1", "/openai/v1", "/v1beta", ""])
def test_a_path_has_the_operation_of_its_entry(base: str, word: str) -> None:
    """Whatever the ids, with a query and a slash at the end; no entry hides another."""
    wrong: dict[str, Any] = {}
    for key, operation in TABLE.items():
        method, provider, pattern = re.fullmatch(r"(\w+) (?:(\w+):)?(.+)", key).groups("")  # type: ignore[union-attr]
        if pattern == "/{}" or (pattern.startswith("^") and base) or (provider and not base):
            continue
        if not base and f"{method} ^{pattern}" in TABLE:
            continue  # AWS's paths have no version before them: without one it is theirs
        for path in (filled(pattern, word), filled(pattern, word) + "/?beta=true&x=/v1/files"):
            found = operation_of(method, base + path, f"api.{provider}.com" if provider else "")
            if found != operation:
                wrong[f"{method} {base}{path}"] = (found, operation)
    assert wrong == {}


def test_behind_a_gateway_what_costs_counts_and_nothing_new_is_free() -> None:
    """A free path is free only where a known API begins before it."""
    for key, operation in TABLE.items():
        method, pattern = key.split(" ")
        path = filled(pattern, "x-1")
        if pattern[0] != "/" or pattern == "/{}" or f"{method} /{{}}{pattern}" in TABLE:
            continue
        if operation != FREE:
            assert operation_of(method, f"/team/llm/v1{path}") == operation, key
        elif method == "POST" and not pattern.startswith("/{}"):
            assert operation_of(method, f"/v1/new_thing{path}") != FREE, key


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/openai/deployments/gpt/chat/completions?api-version=2026-10-01", "chat"),
        ("/openai/deployments/gpt/files", FREE),
        (
            "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
            "generate_content",
        ),
        ("/v1/projects/p/locations/l/publishers/google/models/m:countTokens", FREE),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", FREE),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/claude-5:rawPredict", "chat"),
        ("/v1beta/models/m%3AstreamGenerateContent?alt=sse", "generate_content"),
        ("/v1beta/batches/7:cancel", FREE),
        ("/model/arn:aws:bedrock:us-east-1:1:inference-profile/us.x-v1:0/converse-stream", "chat"),
        ("/model/arn%3Aaws%3Abedrock%3A%2Fp/invoke", "chat"),
        ("/hf-inference/models/org/name", "other"),
        ("/hf-inference/models/org/name/pipeline/feature-extraction", "embeddings"),
        ("/v1/models/org/name/predictions", "other"),
        ("/api/models/org/name/commit/main", FREE),
        ("/v1/threads/thread_1/messages", FREE),
        ("/team/threads/thread_1/messages", None),
        ("/v1/messages", "chat"),
        ("/v1/skills/skill_1", FREE),
        ("/v1/skills/run", None),
        ("/v1/agents/agent_1", FREE),
        ("/agents/AGENT1", "agent_session"),
        ("/v1/sessions", "agent_session"),
        ("/sessions/", FREE),
        ("/v1/conversations", "chat"),
        ("https://api.openai.com/v1/responses", "chat"),
        ("https://api.openai.com/v1/files/?limit=1", FREE),
        ("v1/responses", "chat"),
        ("/api/orders", None),
        ("/", None),
        ("", None),
        ("?q=/v1/responses", None),
    ],
)
def test_what_a_path_is(path: str, operation: str | None) -> None:
    """Of clouds, gateways, ids with slashes, and of what is no model's."""
    assert operation_of("POST", path) == operation
    assert operation_of("post", path) == operation
    assert operation_of("GET", path) == FREE


@pytest.mark.parametrize(
    "url",
    [
        "https://auth.openai.com/oauth/token",
        "https://api.anthropic.com/v1/oauth/token",
        "https://login.microsoftonline.com/tenant/oauth2/v2.0/token",
        "https://oauth2.googleapis.com/token",
        "https://sts.googleapis.com/v1/token",
        "https://www.googleapis.com/oauth2/v4/token",
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken",
    ],
)
def test_what_asks_for_a_credential_is_no_request_to_a_model(url: str) -> None:
    """SDKs ask for it while they call a model: a record would hold the secret."""
    assert operation_of("POST", url) == FREE


@pytest.mark.parametrize(
    ("host", "path", "operation"),
    [
        ("dynamodb.us-east-1.amazonaws.com", "/", FREE),
        ("sts.amazonaws.com", "/", FREE),
        ("bucket.s3.cn-north-1.amazonaws.com.cn", "/key?uploads", FREE),
        ("lambda.eu-west-1.amazonaws.com", "/2015-03-31/functions/f/invocations", FREE),
        ("bedrock-runtime.eu-west-1.amazonaws.com", "/new", None),
        ("bedrock-data-automation-runtime.eu-west-1.amazonaws.com", "/", None),
        ("runtime.sagemaker.eu-west-1.amazonaws.com", "/endpoints/e/invocations", "other"),
        ("x.execute-api.eu-west-1.amazonaws.com", "/v1/chat/completions", "chat"),
        ("amazonaws.com.example.org", "/", None),
    ],
)
def test_one_client_serves_all_of_aws(host: str, path: str, operation: str | None) -> None:
    """A table that is written or a function that is called is no request to a model."""
    assert operation_of("POST", path, host) == operation


def test_what_changes_a_thing_costs_nothing() -> None:
    """An SDK puts files into the store of whoever: no model works for that."""
    for method in ("PUT", "PATCH"):
        assert operation_of(method, "/bucket/part-1?signature=x") == FREE
        assert operation_of(method, "/v1/new_thing/files/run") == FREE
        assert {TABLE[key] for key in TABLE if key.startswith(method)} == {FREE}


def test_a_path_may_mean_another_thing_at_another_provider() -> None:
    """OpenAI's conversations are kept, Mistral's are answered; nobody else's are thought free."""
    said = [operation_of("POST", "/v1/conversations", host) for host in HOSTS]
    assert said == [FREE, "chat", "chat"]


HOSTS = ("api.openai.com", "api.mistral.ai", "gateway.corp")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("WEBSOCKET", "/v1/responses"),
        ("POST", "/openai/deployments/gpt/embeddings?api-version=1"),
        ("POST", "/anthropic/v1/messages"),
        ("POST", "/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("POST", "/v1beta/models/m:embedContent"),
        ("POST", "/api/chat"),
        ("POST", "/ollama/api/generate"),
        ("POST", "/api/embed"),
        ("POST", "/model/m-v1%3A0/converse"),
        ("POST", "/model/m/invoke-with-response-stream"),
        ("POST", "/v2/rerank"),
        ("POST", "/v1/images/generations"),
        ("POST", "/v1/audio/speech/"),
        ("WEBSOCKET", "/v1/realtime?model=m"),
        ("WEBSOCKET", "/ws/google.ai.generativelanguage.v1.GenerativeService.BidiGenerateContent"),
    ],
)
def test_some_paths_only_models_have(method: str, path: str) -> None:
    """On any host, and they cost."""
    assert asks_a_model_anywhere(method, path)
    assert not asks_a_model_anywhere("GET", path)
    assert operation_of(method, path) not in (None, FREE)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/api/orders",
            "/v1/forms/f1/responses",
            "/v1/files",
            "/api/responses",
            "/search",
            "/v1/users/embed",
        ),
        *("/slack/api/chat.postMessage", "/sessions", "/v1/agents", "/images/7", "/classify"),
        *("/v1/models/cat:predict", "/v1/threads/t1/messages", "/Messages.json", "/", ""),
    ],
)
def test_other_paths_many_have(path: str) -> None:
    """A shop, a survey and a messenger ask no model."""
    assert not asks_a_model_anywhere("POST", path)
    assert not asks_a_model_anywhere("WEBSOCKET", path)


@pytest.mark.parametrize(
    "path",
    [
        *("\n", "/\n", "//", "/:", "/.", "/%", "/%3", "://", "?", "#", "/é/🦜", "\ud800"),
        *("/threads/" * 50_000 + "submit_tool_outputs", "/" * 100_000, "x" * 100_000),
    ],
    ids=range(15),
)
def test_no_path_is_too_odd(path: str) -> None:
    """Whatever an application asks for."""
    assert operation_of("POST", path) is None
    assert not asks_a_model_anywhere("POST", path)


def test_asking_keeps_nothing() -> None:
    """Paths have ids in them: a process asks of a million different ones."""
    for path in ("/api/orders/{}", "/v1/threads/{}/messages", "/v1/files/{}/x", "/v1/{}"):
        operation_of("POST", path)
        asks_a_model_anywhere("POST", path)
        before = sys.getallocatedblocks()
        for number in range(5_000):
            operation_of("POST", path.format(number))
            asks_a_model_anywhere("POST", path.format(number))
        assert sys.getallocatedblocks() - before < 500


def test_the_table_is_read_when_it_is_asked_for() -> None:
    """An application that makes no request pays nothing for it."""
    program = (
        "from turnspan.wire import operations as o\n"
        "o.operation_of('GET', '/'); before = o._ends.cache_info().currsize\n"
        "o.operation_of('POST', '/'); print(before, o._ends.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["0", "1"], done.stderr


# -- by fact: the real SDKs say what they send


class Listener(BaseHTTPRequestHandler):
    """Refuses every request, and notes it."""

    seen: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((self.command, self.path))
        self.send_response(400)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The address of a server, and what came to it."""
    seen: list[tuple[str, str]] = []
    handler = type("Handler", (Listener,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


def resources(owner: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The resources of a client, with those inside them."""
    owner_class: type[object] = owner.__class__
    for key in dir(owner_class):
        kind = inspect.getattr_static(owner_class, key)
        if key.startswith(("_", "with_")) or not hasattr(kind, "func"):
            continue
        inner = getattr(owner, key)
        path = f"{name}.{key}".lstrip(".")
        if type(inner).__module__.partition(".")[2].startswith("resources."):
            yield path, inner
            yield from resources(inner, path)


@pytest.mark.parametrize("sdk", few(["openai", "anthropic"], ["anthropic"]))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_an_sdk_really_sends_is_classed(
    sdk: str,
    listener: tuple[str, list[tuple[str, str]]],
    sent: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each method is called; what comes to the server is what the readers read of the sources."""
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k")
    module: Any = pytest.importorskip(sdk)
    address, seen = listener
    client_class = module.OpenAI if sdk == "openai" else module.Anthropic
    base = "/v1" if sdk == "openai" else ""
    client = client_class(api_key="k", base_url=address + base, max_retries=0)
    read = {one.method: one for one in sent if (one.sdk, one.verb) == (sdk, "POST")}
    called: set[str] = set()
    for resource, owner in resources(client):
        for name, function in inspect.getmembers(owner, inspect.ismethod):
            method = f"{resource}.{name}"
            if method not in read:
                continue
            del seen[:]
            parameters = inspect.signature(function).parameters.values()
            needed = [one.name for one in parameters if one.default is one.empty]
            with suppress(module.APIStatusError, TypeError, ValueError, AttributeError):
                function(**{key: b"x" if key in FILES else "id-1" for key in needed})
            for verb, path in seen:
                called.add(method)
                found = operation_of(verb, path, f"api.{sdk}.com")
                assert found == (SCRIPT["becomes"](read[method], TABLE)[0] or FREE), path
    assert len(called) > 0.9 * len(read), sorted(read.keys() - called)


FILES = {"video", "archive", "data", "file", "image", "recording"}
