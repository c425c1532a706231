"""Whose a row is: for each table, by which of its columns a session, a turn, a user or a project
has it. The one list that forgetting goes by, in the store, in the spool and in archives.

A *key* names something that was forgotten: a kind and an id in a project. A table's rows belong to
it where one of its columns holds that id. A *reference* names content that a row shares with
others, which goes when no row refers to it any more.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

PROJECT: Final = "project"
"""The key of a project has the project's name for its id."""
USER: Final = "user"
SESSION: Final = "session"
TURN: Final = "turn"
TRACE: Final = "trace"
SPAN: Final = "span"
"""A model call, a tool call, a context or any other span: their ids are those of spans."""
ARTIFACT: Final = "artifact"
ATTEMPT: Final = "attempt"
ROLLOUT: Final = "rollout"
CONSORTIUM: Final = "consortium"
"""A run of several models and an arbiter."""

MESSAGE: Final = "message"
DEFINITION: Final = "definition"
TRIED: Final = "tried"
"""An attempt that others may have been made under as well."""
ROLLED: Final = "rolled"
"""As ``TRIED``, of a rollout."""
SHARED: Final = (MESSAGE, DEFINITION, TRIED, ROLLED)
"""Kinds of tombstones over what goes only when nothing that is left refers to it."""

USER_ATTRIBUTE: Final = "user.id"
JUDGED: Final = "*"
"""In ``OwnerKey.kind``: the row says itself, in ``subject_kind``, what its id is of."""
JUDGED_KINDS: Final = {
    **dict.fromkeys(("session", "thread"), SESSION),
    **dict.fromkeys(("call", "llm_call", "tool", "tool_call", "context", "span"), SPAN),
    **{kind: kind for kind in (TURN, TRACE, ARTIFACT, ATTEMPT, ROLLOUT, CONSORTIUM)},
}
"""What a judgment's subject is called, and the kind of key that its id has."""


@dataclass(frozen=True, slots=True)
class OwnerKey:
    """A column by whose id a row belongs to something.

    ``attribute``: the id is in this entry of the column, a map or JSON. ``unclaimed``: only where
    the row names no session and no turn of its own, so that nobody else says that it is theirs.
    """

    kind: str
    column: str
    attribute: str = ""
    unclaimed: bool = False


@dataclass(frozen=True, slots=True)
class Belonging:
    """Whose a table's rows are. ``time`` is when what a row records began; ``project_only`` says
    why nothing less than its project has one."""

    time: str
    keys: tuple[OwnerKey, ...] = ()
    definitions: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    project_only: str = ""


_SESSION = OwnerKey(SESSION, "session_id")
_TURN = OwnerKey(TURN, "turn_id")
_TRACE = OwnerKey(TRACE, "trace_id", unclaimed=True)
_USER = OwnerKey(USER, "attributes", USER_ATTRIBUTE)
_PLACED = (_SESSION, _TURN, _TRACE)
_OF_RUN = (*_PLACED, OwnerKey(CONSORTIUM, "consortium_id"))
_USERS = (_USER, OwnerKey(USER, "request_parameters", "user"))
_COMPARED = (OwnerKey(JUDGED, "chosen_id"), OwnerKey(JUDGED, "rejected_id"))
_CONFIGURED = "a configuration of an agent, not something that somebody said to it"

BELONGING: Final[dict[str, Belonging]] = {
    "llm_call": Belonging(
        "start_time",
        (*_PLACED, *_USERS),
        definitions=("system_prompt", "tool_definitions", "context_assembled"),
        messages=("input_messages", "output_messages"),
    ),
    "llm_call_running": Belonging(
        "start_time",
        (*_PLACED, *_USERS),
        definitions=("system_prompt", "tool_definitions"),
        messages=("input_messages",),
    ),
    "turn_summary": Belonging("start_time", (_SESSION, _TURN, OwnerKey(USER, "user_id"))),
    "tool_call": Belonging("start_time", (*_PLACED, _USER)),
    "message": Belonging("first_seen", (OwnerKey(SESSION, "scope"),)),
    "definition": Belonging("first_seen"),
    "span": Belonging("start_time", (*_PLACED, _USER)),
    "annotation": Belonging("created_at", (OwnerKey(JUDGED, "subject_id"), *_COMPARED)),
    "withdrawal": Belonging("created_at", (OwnerKey(JUDGED, "subject_id"),)),
    "context_assembly": Belonging("start_time", _PLACED, definitions=("context_hash",)),
    "context_item": Belonging("start_time", _PLACED, definitions=("content_hash",)),
    "consortium": Belonging("started_at", _OF_RUN, definitions=("prompt", "final_text")),
    "consortium_iteration": Belonging("started_at", _OF_RUN),
    "consortium_member": Belonging("started_at", _OF_RUN),
    "artifact": Belonging(
        "created_at", (*_PLACED, OwnerKey(ARTIFACT, "artifact_id")), definitions=("content",)
    ),
    "artifact_check": Belonging(
        "checked_at", (OwnerKey(ARTIFACT, "artifact_id"), OwnerKey(TURN, "turn_id"))
    ),
    "attempt": Belonging("started_at", (OwnerKey(ATTEMPT, "attempt_id"),)),
    "rollout": Belonging("started_at", (OwnerKey(ROLLOUT, "rollout_id"),)),
    "agent_version": Belonging("created_at", definitions=("content",), project_only=_CONFIGURED),
    "experiment": Belonging("created_at", project_only=_CONFIGURED),
    "lineage": Belonging("opened_at", project_only=_CONFIGURED),
    "lineage_event": Belonging("created_at", project_only=_CONFIGURED),
    "evolution": Belonging("created_at", project_only=_CONFIGURED),
    "insight": Belonging("created_at", project_only=_CONFIGURED),
    "review_queue": Belonging("written_at", project_only="a saved question, not an answer"),
    "dataset_case": Belonging("created_at", (_SESSION, _TURN)),
    "import_position": Belonging("began_at", project_only="how far an import has come"),
    "tombstone": Belonging("created_at", project_only="what forgetting itself leaves"),
}
"""Every table of records; a test fails where one is missing."""


def key_of(kind: str, project: str, id_: str) -> bytes:
    """What a tombstone has for an id: nobody can read the id from it, whoever knows it can tell."""
    said = f"{kind}\0{project}\0{id_}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).digest()[:16]


def key_sql(kind: str, id_: str) -> str:
    """``key_of`` in SQL, of a row with a ``project``; ``kind`` and ``id_`` are expressions."""
    said = f"concat({kind}, '\\0', project, '\\0', {id_})"
    return f"toFixedString(substring(SHA256({said}), 1, 16), 16)"
