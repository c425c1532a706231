"""Land each message and definition once.

An agent resends its history on every call. The history of the newest calls of each scope is kept
(it shares its strings with the application's own list), and a new call is compared with it element
by element: strings that are the same objects compare in no time, so the messages seen before keep
their hashes without being converted, redacted or hashed again.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from hashlib import blake2b
from operator import is_
from typing import Any

from turnspan.content.equality import is_alike
from turnspan.content.frozen_history import MAX_HELD, begins_with
from turnspan.content.media import digest_media
from turnspan.content.model import Message as GenAiMessage
from turnspan.content.model import Part, dumps, dumps_text, plain_json
from turnspan.content.sizes import size_of
from turnspan.content.text_message import as_dict_message
from turnspan.dialects.convert import convert_sealed
from turnspan.redaction.truncate import limit_parts
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.throttle import give_way
from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import NO_HASH, Definition, MessageRow


class Seen:
    """Remembers the newest ``limit`` keys at most, and half as many at least."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._young: dict[bytes, None] = {}
        self._old: dict[bytes, None] = {}

    def add(self, key: bytes) -> bool:
        """Remember a key; whether it is new."""
        young = self._young
        if key in young:
            return False
        young[key] = None
        new = key not in self._old
        if len(young) >= self._half:
            self._old, self._young = young, {}
        return new

    def clear(self) -> None:
        """Forget everything."""
        self._young = {}
        self._old = {}


MAX_SCOPES = 4_096
MAX_HISTORIES = 4
"""Histories kept a scope: nested agents and parallel calls have their own."""
MAX_ECHOES = 4
"""Replies kept a scope: the next request most often brings the last one back as it was."""
MAX_KNOWN = 200_000
"""Hashes remembered as landed, over all scopes."""
MAX_PARAMETERS = 1_024
_MAX_PARAMETERS_BYTES = 4_096
_NO_SIZES = array("q")


class _History:
    """Messages, their hashes, and about how many bytes the first of them take, and the first two,
    ... (``size_of``). Neither a tuple of bytes nor an array is looked at element by element by full
    garbage collections, as a list is."""

    __slots__ = ("dialect", "hashes", "messages", "sizes")

    def __init__(
        self, dialect: str, messages: list[Any], hashes: tuple[bytes, ...], sizes: array[int]
    ) -> None:
        self.dialect = dialect
        self.messages = messages
        self.hashes = hashes
        self.sizes = sizes

    @property
    def size(self) -> int:
        """About how many bytes all of them take."""
        return self.sizes[-1] if self.sizes else 0


class _Scope:
    __slots__ = ("echoes", "histories", "size")

    def __init__(self) -> None:
        self.histories: list[_History] = []
        self.size = 0
        """Of the longest of them; the others are mostly its beginnings."""
        self.echoes: list[tuple[str, Any, bytes]] = []
        """Dialect, message and hash of what the model said, the newest first."""


@mypyc_attr(acyclic=True)
class MessageScope:
    """Where a call's content belongs, and what lands it."""

    __slots__ = ("batch", "dialect", "key", "project", "scope")

    def __init__(self, dialect: str, project: str, scope: str, batch: Batch) -> None:
        self.dialect = dialect
        self.project = project
        self.scope = scope
        self.batch = batch
        self.key = f"{project}\0{scope}\0".encode("utf-8", "replace")
        """Its scope, as what begins the key of each message that has landed in it."""


class MessageStore:
    """Turns contents into hashes and adds the rows that have not landed yet to a batch."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[tuple[str, str], _Scope] = OrderedDict()
        self._held = 0
        self._known = Seen(MAX_KNOWN)
        self._definitions: OrderedDict[int, tuple[Any, bytes]] = OrderedDict()
        self._parameters: dict[bytes, str] = {}

    def messages(self, raw: list[Any], place: MessageScope, when: int) -> list[bytes]:
        """The hashes of a request's messages, in order."""
        dialect = place.dialect
        media = place.batch.redactor.settings.capture_media
        state = self._scope(place.project, place.scope)
        known, same = _longest_prefix(state.histories, dialect, raw)
        if known is None:
            hashes, sizes, size = [], _NO_SIZES[:], 0
        else:
            hashes = list(known.hashes[:same])
            # What is kept of this call instead begins with all of that one, or that one does.
            if same == len(known.messages) or same == len(raw):
                state.histories.remove(known)
            if same == len(raw):
                state.histories.insert(0, known)
                return hashes
            sizes = known.sizes[:same]
            size = sizes[-1]
        for frozen in raw[same:] if same else raw:
            give_way()
            message = as_dict_message(frozen)
            digest = _echoed(state.echoes, dialect, message) if state.echoes else None
            if digest is None:
                converted, source = convert_sealed(dialect, message, keep_bytes=media)
                digest, _ = self._land(converted, source, place, when)
            hashes.append(digest)
            size += size_of(frozen)
            sizes.append(size)
        state.histories.insert(0, _History(dialect, raw, tuple(hashes), sizes))
        del state.histories[MAX_HISTORIES:]
        # Those idle for longest make room for what this scope holds now.
        longest = 0
        for history in state.histories:
            longest = max(longest, history.size)
        self._held += longest - state.size
        state.size = longest
        while self._held > MAX_HELD and len(self._scopes) > 1:
            self._drop_scope()
        return hashes

    def _drop_scope(self) -> None:
        self._held -= self._scopes.popitem(last=False)[1].size

    def reply(self, raw: Any, place: MessageScope, when: int) -> tuple[GenAiMessage, bytes, bool]:
        """One message of a reply in the GenAI schema, its hash, and whether redaction, looking at
        it as a model's words, has left its parts as they are."""
        media = place.batch.redactor.settings.capture_media
        message, source = convert_sealed(
            place.dialect, raw, default_role="assistant", keep_bytes=media
        )
        digest, redacted = self._land(message, source, place, when)
        if _is_said(raw):
            echoes = self._scope(place.project, place.scope).echoes
            echoes.insert(0, (place.dialect, raw, digest))
            del echoes[MAX_ECHOES:]
        same = redacted is message["parts"] and message.get("role") == "assistant"
        return message, digest, same

    def _land(
        self, message: GenAiMessage, source: str, place: MessageScope, when: int
    ) -> tuple[bytes, list[Part]]:
        """The hash of one message and its redacted parts; its row goes into the batch if it has
        not landed."""
        redactor = place.batch.redactor
        role, name = str(message.get("role") or ""), str(message.get("name") or "")
        where = "output" if role == "assistant" else "input"
        redacted = redactor.parts(message["parts"], where, role)
        limit = redactor.settings.content_limit_bytes
        kept = limit_parts(redacted, limit) if limit else redacted
        parts = dumps(kept)
        role, name = redactor.text(role, where), redactor.text(name, where) if name else ""
        if kept is not redacted and kept != redacted:
            source = ""  # the provider's own form would hold what was cut
        elif source:
            source = redactor.source(source, where, role)
        identity = (_bytes(role), _bytes(name), parts, _bytes(source))
        digest = blake2b(b"\0".join(identity), digest_size=16).digest()
        if self._known.add(place.key + digest):
            batch = place.batch
            batch.content += len(parts) + len(source)
            row = MessageRow.__new__(MessageRow)
            row.project = place.project
            row.scope = place.scope
            row.hash = digest
            row.role = role
            row.name = name
            row.parts = parts.decode()
            row.source = source
            row.dialect = place.dialect
            row.first_seen = when
            row.written_at = batch.written_at
            batch.add(row)
        return digest, redacted

    def parameters(self, parameters: dict[str, Any], batch: Batch) -> str:
        """A request's parameters as they may be written; an agent's are the same on every call."""
        written = plain_json(parameters)
        text = self._parameters.get(written) if written else None
        if text is None:
            text = dumps_text(batch.redactor.value(digest_media(parameters), "parameters"))
            if 0 < len(written) <= _MAX_PARAMETERS_BYTES:
                if len(self._parameters) >= MAX_PARAMETERS:
                    self._parameters.clear()
                self._parameters[written] = text
        return text

    def definition(
        self,
        kind: str,
        body: str,
        *,
        source: str = "",
        project: str,
        when: int,
        batch: Batch,
    ) -> bytes:
        """The hash of a (redacted) system prompt, tool catalogue or context; zero for none."""
        if not body:
            return NO_HASH
        digest = blake2b(
            f"{kind}\0{body}\0{source}".encode("utf-8", "replace"), digest_size=16
        ).digest()
        if self._known.add(f"{project}\0\0".encode("utf-8", "replace") + digest):
            batch.add(
                Definition(
                    project=project,
                    hash=digest,
                    kind=kind,
                    body=body,
                    source=source,
                    first_seen=when,
                    written_at=batch.written_at,
                )
            )
        return digest

    def remembered(self, value: Any) -> bytes | None:
        """The hash of a definition that is this very object (tool lists are frozen once)."""
        known = self._definitions.get(id(value))
        return known[1] if known is not None and known[0] is value else None

    def remember(self, value: Any, digest: bytes) -> None:
        """Keep a definition's hash by its object's identity."""
        self._definitions[id(value)] = (value, digest)
        if len(self._definitions) > 1_024:
            self._definitions.popitem(last=False)

    def forget(self) -> None:
        """In a forked child, or after a batch was lost: land everything again."""
        self._scopes.clear()
        self._held = 0
        self._known.clear()
        self._definitions.clear()
        self._parameters.clear()

    def _scope(self, project: str, scope: str) -> _Scope:
        key = (project, scope)
        state = self._scopes.get(key)
        if state is None:
            state = self._scopes[key] = _Scope()
            if len(self._scopes) > MAX_SCOPES:
                self._drop_scope()
        else:
            self._scopes.move_to_end(key)
        return state


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _is_said(message: Any) -> bool:
    """Whether this may be a reply that comes back in the next request."""
    return is_dict(message) and message.get("role") == "assistant"


def _echoed(echoes: list[tuple[str, Any, bytes]], dialect: str, message: Any) -> bytes | None:
    """The hash of a message that is what the model has said, to the letter of its JSON."""
    if _is_said(message):
        for spoken, said, digest in echoes:
            if spoken == dialect and said == message and is_alike(said, message):
                return digest
    return None


def _longest_prefix(
    histories: list[_History], dialect: str, raw: list[Any]
) -> tuple[_History | None, int]:
    """The history that has the most messages in common with the beginning of these; how many."""
    best: _History | None = None
    most = 0
    count = len(raw)
    for history in histories:
        messages = history.messages
        limit = len(messages)
        if limit > count:
            limit = count
        if history.dialect != dialect or limit <= most:
            continue
        shorter, longer = (messages, raw) if limit == len(messages) else (raw, messages)
        if begins_with(longer, shorter) and all(map(is_, shorter, longer)):
            same = limit
        else:
            same = _in_common(messages, raw)
        if same > most:
            best, most = history, same
    return best, most


def _in_common(one: list[Any], other: list[Any]) -> int:
    """How many messages two lists begin with that are the same."""
    same = 0
    for message, another in zip(one, other, strict=False):
        if message is not another and (message != another or not is_alike(message, another)):
            break
        same += 1
    return same


def system_text(system: list[dict[str, Any]]) -> str:
    """The text of a call's system instructions; parts that are not text as JSON."""
    texts: list[str] = []
    for part in system:
        content = part.get("content")
        texts.append(content if isinstance(content, str) else dumps(part).decode())
    return "\n\n".join(texts)
