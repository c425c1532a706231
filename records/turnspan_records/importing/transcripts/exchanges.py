"""A line as what was sent to a model and what came back, whatever the log calls the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.content.model import as_dict
from turnspan_records.importing.transcripts.fields import (
    ENDS,
    SESSIONS,
    SPANS,
    TIMES,
    Object,
    first,
    object_in,
    opened,
)

REQUESTS: Final = ("request", "body", "params", "kwargs", "request_body", "input", "req")
RESPONSES: Final = ("response", "result", "completion", "response_body", "output", "resp")
_BODIES: Final = ("body", "json", "data", "parsed")
_ASKED: Final = frozenset({"messages", "input", "prompt"})
_NOT_SENT: Final = frozenset({*RESPONSES, *TIMES, *ENDS, *SESSIONS, *SPANS, "error", "custom_id"})
_OK: Final = 400
"""From here on an HTTP status says that a call failed."""


@dataclass(slots=True)
class Exchange:
    """One call of a model."""

    request: Object | None = None
    response: Object | None = None
    holders: list[Object | None] = field(default_factory=list[Object | None])
    """Where times, sessions and ids may stand, the surest first."""
    error: str = ""
    """Its type, where it failed."""
    message: str = ""
    custom_id: str = ""
    """Of a batch: the line of the other file with the same one belongs to it."""
    unanswered: bool = False
    """Whether it is what was sent of a batch, and nothing else."""

    def host(self) -> str:
        """The server that the request was sent to, if the line says it."""
        try:
            return urlsplit(self.url()).hostname or ""
        except ValueError:
            return ""

    def url(self) -> str:
        """The path that the request was sent to, if the line says it."""
        found = first(self.holders, ("url", "path", "endpoint"))
        return found if isinstance(found, str) else ""


def exchange_of(line: Object) -> Exchange | None:
    """What a line with a request, a response or both says; None for other lines."""
    sent, came = _named(line, REQUESTS), _named(line, RESPONSES)
    if sent is None and came is not None and line.keys() & _ASKED:  # beside the response
        sent = {name: value for name, value in line.items() if name not in _NOT_SENT}
    custom_id = line.get("custom_id")
    if sent is None and came is None and not line.get("error"):
        return None
    found = Exchange(
        custom_id=custom_id if isinstance(custom_id, str) else "",
        holders=[line, as_dict(line.get("metadata"))],
    )
    if sent is not None:
        found.request = _body(sent)
        found.holders += [sent, as_dict(found.request.get("metadata"))]
    if came is not None:
        _read_response(found, came)
    if line.get("error") and not found.error:
        _fail(found, line["error"])
    if came is None and not found.error:
        found.unanswered = bool(found.custom_id)
        if not found.custom_id:
            return None
    return found


def of_response(line: Object, request: Object) -> Exchange:
    """A line that is a response itself, as the lists of what a provider has stored are."""
    return Exchange(request=request, response=line, holders=[line, as_dict(line.get("metadata"))])


def _named(line: Mapping[str, Any], names: tuple[str, ...]) -> Object | None:
    objects = (object_in(line[name]) for name in names if name in line)
    return next((body for body in objects if body is not None), None)


def _body(said: Object) -> Object:
    """The JSON of an HTTP message; what is none is the body itself."""
    for name in _BODIES:
        inner = object_in(said.get(name))
        if inner is not None and not {"messages", "choices", "content"} & said.keys():
            return inner
    return said


def _read_response(found: Exchange, came: Object) -> None:
    kind = came.get("type")
    if kind == "succeeded" and as_dict(came.get("message")) is not None:  # of Anthropic's batches
        found.response = came["message"]
    elif kind in ("errored", "canceled", "expired"):
        _fail(found, came.get("error") or {"type": kind, "message": f"the request was {kind}"})
    else:
        found.response = _body(came)
    found.holders += [came, found.response]
    status = first([came], ("status_code", "status"))
    if isinstance(status, int) and status >= _OK:
        _fail(found, (found.response or {}).get("error") or found.response, str(status))
    elif found.response is not None and set(found.response) <= {"error", "type", "request_id"}:
        _fail(found, found.response.get("error"))


def _fail(found: Exchange, problem: Any, otherwise: str = "failed") -> None:
    said = as_dict(opened(problem))
    if said is not None and as_dict(said.get("error")) is not None:  # {"type": "error", "error": }
        said = said["error"]
    found.response = None
    if said is None:
        found.error, found.message = otherwise, str(problem or "")
        return
    code = first([said], ("code", "type"))
    found.error = str(code) if code else otherwise
    found.message = str(said.get("message") or said.get("detail") or "")
