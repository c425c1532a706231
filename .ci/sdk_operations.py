"""Hold the table of what requests to providers are against the sources of their SDKs.

python .ci/sdk_operations.py           fail where an SDK sends what the table does not class
python .ci/sdk_operations.py --write   put what is new into it as "?", take out what is gone
python .ci/sdk_operations.py --docs    write docs/coverage.md and docs/reference/sdk-requests.md
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent))  # also where a test runs this file

from sdk_requests import COSTING, ROOT, SDKS, Request

TABLE: Final = ROOT / "instrument" / "turnspan" / "wire" / "operations.json"
PAGE: Final = ROOT / "docs" / "reference" / "sdk-requests.md"
SUMMARY: Final = ROOT / "docs" / "coverage.md"
CALLED: Final = ROOT / "tests" / "clients" / "methods.json"
"""What was called, as ``tests/clients/test_every_method.py`` writes it."""
UNCLASSED: Final = "?"

EXTRAS: Final = {
    "anthropic's clients for Vertex AI and Bedrock put these in the place of /v1/messages": (
        "POST /models/count-tokens:rawPredict",
    ),
    "mistralai.extra asks for a token by httpx": ("POST /audio/workers/registration-token",),
    "credentials, asked for on the way to a model: no record may hold them": (
        "POST /token",
        "POST /{}/token",
        "POST /{}:generateAccessToken",
        "POST /{}:generateIdToken",
        "POST /{}:signBlob",
        "POST /{}:signJwt",
    ),
    "google-genai has the kind of resource in the id": (
        "PATCH /cachedContents/{}",
        "PATCH /models/{}",
    ),
    "addresses that together's and huggingface_hub's methods of HOST_ONLY are given": (
        "POST /api/complete_multipart",
        "POST /files/{}/preprocess",
        "POST /{}/{}.git/info/lfs/objects/verify",
    ),
    "paths of SDKs before these: Anthropic's completions, Azure's images, Bedrock's jobs": (
        "POST /complete",
        "POST /images/generations:submit",
        "POST ^/model-invocation-job",
        "POST ^/model-customization-jobs",
    ),
    "AWS Lambda, whose end is that of vLLM": ("POST /{}/functions/{}/invocations",),
    "Bedrock AgentCore: what runs an agent": (
        "POST ^/harnesses/invoke",
        "POST ^/runtimes/{}/invocations",
    ),
    "vLLM and text-generation-inference": (
        "POST /generate_stream",
        "POST /invocations",
        "POST /load_lora_adapter",
        "POST /pooling",
        "POST /score",
        "POST /unload_lora_adapter",
    ),
    "llama.cpp": (
        "POST /apply-template",
        "POST /completion",
        "POST /embedding",
        "POST /infill",
        "POST /reranking",
    ),
    "Replicate": ("POST /deployments/{}/{}/predictions", "POST /trainings"),
    "watsonx": (
        "POST /text/chat_stream",
        "POST /text/generation",
        "POST /text/generation_stream",
    ),
    "DashScope's own form": (
        "POST /services/aigc/multimodal-generation/generation",
        "POST /services/aigc/text-generation/generation",
        "POST /services/aigc/text2image/image-synthesis",
        "POST /services/embeddings/text-embedding/text-embedding",
    ),
    "Voyage, Perplexity": (
        "POST /contextualizedembeddings",
        "POST /multimodalembeddings",
        "POST /search",
    ),
}
"""Entries of the table that none of the SDKs read here sends, by what sends them."""

RECORDED: Final = frozenset(
    f"POST {path}"
    for path in (
        *("/chat/completions", "/models/chat/completions", "/agents/completions", "/completions"),
        *("/fim/completions", "/responses", "/embeddings", "/messages", "/chat", "/embed"),
        *("/api/chat", "/api/generate", "/api/embed", "/api/embeddings", "/interactions"),
        *("/{}:generateContent", "/{}:streamGenerateContent", "/{}:embedContent"),
        "/{}:batchEmbedContents",
        *("/model/{}/converse", "/model/{}/converse-stream"),
        *("/model/{}/invoke", "/model/{}/invoke-with-response-stream"),
    )
)
"""What has a dialect, so that it becomes a row of ``llm_call``."""

HOST_ONLY: Final = {
    ("google-genai", "caches.update"),
    ("google-genai", "models.update"),
    ("huggingface_hub", "lfs.lfs_upload"),
    ("huggingface_hub", "lfs.upload_multi_part"),
    ("huggingface_hub", "lfs.upload_parts_iteratively"),
    ("huggingface_hub", "lfs.upload_single_part"),
    ("together", "files.callback"),
    ("together", "files.get_upload_url"),
}
"""Methods that send to a path of the server's choice, beside those of ``InferenceClient``, some of
whose providers have the model for a path: the host alone tells what these are."""


@cache
def requests() -> tuple[Request, ...]:
    """What all SDKs send, sorted."""
    gc.disable()  # it would go through each tree again and again: half of the time
    try:
        return tuple(sorted({request for sdk in SDKS for request in sdk.requests()}))
    finally:
        gc.enable()


def unread(sent: Iterable[Request]) -> list[str]:
    """Methods whose verb or path the readers did not make out."""
    return sorted(
        {
            f"{request.sdk} {request.method}: {request.pattern}"
            for request in sent
            if not request.verb
            or (
                request.path == "/{}"
                and request.verb in COSTING
                and not request.method.startswith("inference.")
                and (request.sdk, request.method) not in HOST_ONLY
            )
        }
    )


def differences(table: dict[str, str], sent: Iterable[Request]) -> tuple[list[str], list[str]]:
    """The patterns that the table lacks or has not classed, and those that nothing sends."""
    costing = [request for request in sent if request.verb in COSTING]
    patterns = {request.pattern for request in costing}
    of_one = {f"{request.verb} {request.sdk}:{request.path}" for request in costing}
    named = {pattern for several in EXTRAS.values() for pattern in several}
    silent = {pattern for pattern in patterns | named if table.get(pattern, UNCLASSED) == UNCLASSED}
    return sorted(silent), sorted(table.keys() - patterns - of_one - named)


def read_table() -> dict[str, str]:
    return dict(json.loads(TABLE.read_text("utf-8"))) if TABLE.exists() else {}


def becomes(request: Request, table: dict[str, str]) -> tuple[str, str]:
    """The operation of a request, and what becomes of it."""
    operation = table.get(request.pattern, UNCLASSED) if request.verb in COSTING else "free"
    if (request.sdk, request.method) in HOST_ONLY:
        return "", "costs nothing"
    operation = table.get(f"{request.verb} {request.sdk}:{request.path}", operation)
    if operation == "free":
        return "", "costs nothing"
    return operation, "recorded" if request.pattern in RECORDED else "generic record"


def page() -> str:
    """The table of the documentation."""
    table, sent = read_table(), requests()
    methods: dict[tuple[str, str], list[Request]] = {}
    for request in sent:
        methods.setdefault((request.sdk, request.method), []).append(request)
    rows: dict[tuple[str, ...], list[str]] = {}
    for (sdk, method), several in methods.items():
        found = {becomes(request, table) for request in several}
        found = {pair for pair in found if pair[0]} or found
        names = {operation for operation, _ in found}
        ways = {request.asynchronous for request in several}
        how = "both" if len(ways) == 2 else "async" if ways == {True} else "sync"
        resource, _, name = method.rpartition(".")
        if found == {("", "costs nothing")}:
            resource, _, name = method.partition(".")
            resource, name = (resource, name) if name else ("", resource)
        name += "\\*" if any(request.streams for request in several) else ""
        operations = ", ".join(sorted(names - {"other"} or names))
        end = ", ".join(sorted({word for _, word in found}, reverse=True))
        rows.setdefault((sdk, end, resource, operations, how), []).append(name)
    text = HEAD
    for sdk in dict.fromkeys(each.name for each in SDKS):
        text += f"\n## {sdk}\n\n{COLUMNS}"
        mine = (key for key in rows if key[0] == sdk)
        for key in sorted(mine, key=lambda key: (ENDS.index(key[1]), key)):
            _, end, resource, operations, how = key
            names = ", ".join(sorted(rows[key]))
            text += f"| {resource} | {names} | {how} | {operations} | {end} |\n"
    return text


def summary() -> str:
    """The page that says how many methods become what."""
    table, counts = read_table(), dict[str, dict[str, set[str]]]()
    called = json.loads(CALLED.read_text(encoding="utf-8"))
    for request in requests():
        _, end = becomes(request, table)
        of_sdk = counts.setdefault(request.sdk, {})
        of_sdk.setdefault(end, set()).add(request.method)
    text = SUMMARY_HEAD
    for name in dict.fromkeys(each.name for each in SDKS):
        recorded = counts[name].get("recorded", set[str]())
        generic = counts[name].get("generic record", set[str]()) - recorded
        free = counts[name].get("costs nothing", set[str]()) - recorded - generic
        tried = max(one["methods"] for key, one in called.items() if key.split(",")[0] == name)
        text += f"| {name} | {len(recorded)} | {len(generic)} | {len(free)} | 0 | {tried} |\n"
    return text


SUMMARY_HEAD: Final = """# What is covered

<!-- Written by `make reference` from the SDKs' sources: do not change it here. -->

After this page you know that no request of an SDK is silent. These methods send requests:
[each of them](reference/sdk-requests.md), and [how it is recorded](instrumentation.md).
`make test-clients` really calls some of them, and counts.

| SDK | recorded | generic record | costs nothing | silent | called |
|---|---|---|---|---|---|
"""
ENDS: Final = ("recorded", "recorded, generic record", "generic record", "costs nothing")
COLUMNS: Final = """| resource | methods | calls | operation | what becomes of it |
|---|---|---|---|---|
"""
HEAD: Final = """# What SDKs send

<!-- Written by `make reference` from the SDKs' sources: do not change it here. -->

After this page you know what becomes of each request that an SDK sends. A method with a star can
stream its answer. `both` means synchronous and asynchronous. A `recorded` request is a row of
`llm_call`. A `generic record` has an `operation`. What `costs nothing` leaves no record. Bedrock's
`invoke_model` is recorded for Claude and Nova; for another model it has a generic record.
"""


def main(arguments: list[str]) -> int:
    table, sent = read_table(), requests()
    silent, gone = differences(table, sent)
    unclear = unread(sent)
    if "--docs" in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        SUMMARY.write_text(summary(), encoding="utf-8")
        return 0
    if "--write" in arguments:
        table = {key: value for key, value in table.items() if key not in gone}
        table |= dict.fromkeys(silent, UNCLASSED)
        lines = json.dumps(table, indent=0, sort_keys=True, ensure_ascii=False)
        TABLE.write_text(lines + "\n", encoding="utf-8")
    for title, lines in (("not classed", silent), ("sent by no SDK", gone), ("not read", unclear)):
        for line in lines:
            print(f"{title}: {line}")
    return 1 if silent or gone or unclear else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
