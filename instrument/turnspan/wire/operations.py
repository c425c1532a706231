"""What a request to a provider is, by its method and path.

The table, ``operations.json``, has every path to which a known SDK sends something, with what its
provider charges for it. ``.ci/sdk_operations.py`` holds it against the sources of the SDKs.

A key is a method and the end of a path, ids as ``{}``; after ``^`` it is the whole path. An end
that costs counts behind whatever a gateway puts before it. One that costs nothing is known to do so
only behind the prefixes of known APIs: ``/v1/files`` makes no new ``/v1/something/files`` free.
``openai:/conversations`` is the meaning that a path has at the hosts of one provider.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from turnspan.runtime.later import later

FREE: Final = "free"
"""The operation of a request that is known to cost nothing."""

_ASKING: Final = ("POST", "WEBSOCKET")
COSTING: Final = frozenset((*_ASKING, "PUT", "PATCH"))
"""Methods that may make a model work: to fetch, to list and to delete costs nothing."""

_LONGEST: Final = 2_000
"""Of a longer path only the end is looked at, so that none takes long."""

_PREFIX: Final = later(
    r"(?:/(?:v\d[\w.]*|api|paas|openai(?:/deployments/[^/]+)?|anthropic|inference|beta|upload"
    r"|compatibility|compatible-mode|projects/[^/]+/locations/[^/]+(?:/publishers/[^/]+)?))*"
)
"""What may stand before the end of a path that costs nothing."""

_ID: Final = r"(?=[^/]*[0-9A-Z]|[^/]{20})[^/]+"
"""An id and no word: ``POST /skills/skill_68f`` is free, a new ``POST /skills/run`` is not."""


class _End(NamedTuple):
    """One entry of the table."""

    literals: int
    """How many characters are no ids: of several ends that fit, the one with most counts."""
    method: str
    part: str
    """Its longest part without ids: a text without it is not worth an expression."""
    matches: re.Pattern[str]
    """Group 1 is what stands before it."""
    operation: str
    has_prefix: bool
    """Whether what stands before it is no part of an id, and not fixed."""
    provider: str
    """A word of the hosts where this holds; empty for any host."""


def operation_of(method: str, path: str, host: str = "") -> str | None:
    """What a request is.

    Args:
        method: The HTTP method, or ``WEBSOCKET``.
        path: The path, quoted or not; a query may follow, a scheme and host may precede.
        host: The host, where it is known: some paths mean one thing at one provider, and another at
            the next.

    Returns:
        An operation of the GenAI conventions or of ours; ``FREE`` where it is known to cost
        nothing; None where no SDK posts to such a path.
    """
    if method not in COSTING:
        method = method.upper()
        if method not in COSTING:
            return FREE
    path = _bare(path)
    by_word, by_owner = _ends()
    before, _, last = path.rpartition("/")
    before, _, owner = before.rpartition("/")
    several = [by_word.get(last), by_owner.get(owner)]
    if ":" in last or "." in last:
        several.insert(1, by_word.get(":" + _verb(last)))
    # An id at the end may have a slash of its own: /models/org/name.
    several.append(by_owner.get(before.rpartition("/")[2]))
    for ends in several:
        for end in ends or ():
            if end.method == method and end.part in path and end.provider in host:
                found = end.matches.fullmatch(path)
                if found is not None:
                    free = end.operation == FREE
                    known = not (free and end.has_prefix) or _PREFIX.fullmatch(found[1])
                    return end.operation if known else _unknown(method, host)
    return _unknown(method, host)


def _unknown(method: str, host: str) -> str | None:
    """What a request is that is not in the table.

    An SDK also puts files into the store of whoever, and one client serves all of AWS.
    """
    of_aws = host.endswith((".amazonaws.com", ".amazonaws.com.cn"))
    return None if method in _ASKING and not (of_aws and "bedrock" not in host) else FREE


def asks_a_model_anywhere(method: str, path: str) -> bool:
    """Whether only servers of models have such a path, whatever the host.

    Args:
        method: The HTTP method, or ``WEBSOCKET``.
        path: As for ``operation_of``.
    """
    if method not in _ASKING:
        return False
    path = _bare(path)
    last = path.rpartition("/")[2]
    pattern = _ANYWHERE.get(_verb(last) if ":" in last or "." in last else last)
    return pattern is not None and pattern.search(path) is not None


def _bare(path: str) -> str:
    """A path without scheme, host, query and the slash at its end."""
    path = path.partition("?")[0][-_LONGEST:]
    if path[:1] != "/":
        path = "/" + (path.partition("://")[2].partition("/")[2] if "://" in path else path)
    if path[-1:] == "/":
        path = path.rstrip("/")
    return path.replace("%3A", ":").replace("%3a", ":") if "%3" in path else path


def _verb(word: str) -> str:
    """What stands behind the last colon or dot."""
    return word[max(word.rfind(":"), word.rfind(".")) + 1 :]


@lru_cache(maxsize=1)
def _ends() -> tuple[dict[str, list[_End]], dict[str, list[_End]]]:
    """The table by the last words of its paths, and by the words before ids at the end.

    It is read when it is first asked for.
    """
    table: dict[str, str] = json.loads(Path(__file__).with_name("operations.json").read_bytes())
    by_word: dict[str, list[_End]] = {}
    by_owner: dict[str, list[_End]] = {}
    for key, operation in table.items():
        end = _end(key, operation)
        *_, last = words = key.split("/")[1:]
        if not last.endswith("{}"):
            by_word.setdefault(":" + _verb(last) if "{}" in last else last, []).append(end)
            continue
        owner = next((word for word in words[-2::-1] if word != "{}"), None)
        if owner:  # else an id only: nothing to know it by but the host
            by_owner.setdefault(owner, []).append(end)
    for ends in (*by_word.values(), *by_owner.values()):
        ends.sort(key=lambda end: -end.literals)
    return by_word, by_owner


def _end(key: str, operation: str) -> _End:
    method, _, path = key.partition(" ")
    provider = "" if path[0] in "/^" else path.partition(":")[0]
    path = path[len(provider) + 1 :] if provider else path
    whole, free = path.startswith("^"), operation == FREE
    parts = path.lstrip("^").split("{}")
    first, *rest = map(re.escape, parts)
    pattern = first
    for place, part in enumerate(rest):
        is_last = place == len(rest) - 1 and not part
        # An id that costs may have slashes; one that is free has none, or anything would be free.
        if not free or (place == 0 and first == "/"):
            some = ".+"
        else:
            some = _ID if is_last and not path.startswith("/api/") else "[^/]+"
        pattern += some + part
    has_prefix = not whole and not path.startswith("/{}")
    literals = len(path.replace("{}", "")) + 1_000 * whole + bool(provider)
    matches = later(("()" if whole else "(.*)") + pattern)
    part = max(parts, key=len)
    return _End(literals, method, part, matches, operation, has_prefix, provider)


_VERSION: Final = r"/v\d\w*|/openai|/deployments/[^/]+"
_ANYWHERE: Final = {
    "completions": later(rf"(?:{_VERSION}|/chat|/fim|/agents)/completions\Z"),
    "responses": later(rf"(?:{_VERSION}|\A)/responses\Z"),
    "messages": later(r"/v1/messages\Z"),
    "batches": later(r"/v1/messages/batches\Z"),
    "embeddings": later(rf"(?:{_VERSION}|/api)/embeddings\Z"),
    "generations": later(r"/images/generations\Z"),
    "edits": later(r"/images/edits\Z"),
    "speech": later(r"/audio/speech\Z"),
    "transcriptions": later(r"/audio/transcriptions\Z"),
    "translations": later(r"/(?:audio|realtime)/translations\Z"),
    "moderations": later(r"/v1/(?:chat/)?moderations\Z"),
    "realtime": later(r"(?:/v1|/openai)/realtime\Z"),
    "rerank": later(r"/v[12]/rerank\Z"),
    "interactions": later(r"/v1(?:alpha|beta)\d*/interactions\Z"),
    "chat": later(r"/(?:api|v2)/chat\Z"),
    "generate": later(r"/api/generate\Z"),
    "embed": later(r"/(?:api|v2)/embed\Z"),
    "BidiGenerateContent": later(r"/ws/google\."),
    "generateContent": later(":generateContent"),
    "streamGenerateContent": later(":streamGenerateContent"),
    "batchGenerateContent": later(":batchGenerateContent"),
    "embedContent": later(":embedContent"),
    "batchEmbedContents": later(":batchEmbedContents"),
    "rawPredict": later(r":rawPredict"),
    "streamRawPredict": later(":streamRawPredict"),
    "predictLongRunning": later(":predictLongRunning"),
    "converse": later(r"/model/.+/converse\Z"),
    "converse-stream": later(r"/model/.+/converse-stream\Z"),
    "invoke": later(r"/model/.+/invoke\Z"),
    "invoke-with-response-stream": later(r"/model/.+/invoke-with-response-stream\Z"),
}
"""Ends of paths that only servers of models have, by the last word."""
