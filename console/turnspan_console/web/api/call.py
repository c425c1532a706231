"""One model call, its request as it was sent, and what changed between two."""

from __future__ import annotations

import json
from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.endpoints import endpoint
from turnspan_records.messages import ContentMissingError
from turnspan_records.screens.call import CallScreen, call_screen
from turnspan_records.screens.difference import Difference, diff
from turnspan_records.screens.request import Alteration, exact_request
from turnspan_records.screens.request_code import NoCodeError, as_curl, as_python


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which call."""

    project: str
    span: str


@endpoint("GET", "/api/call", "One model call.")
def _call(store: Store, query: CallQuery) -> CallScreen:
    with refusing("model call", query.project):
        return call_screen(store, query.project, query.span)


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """The body of the request as JSON, and the command and the program that send it again, each
    empty where there is none: ``reason`` says why."""

    body: str
    exact: bool
    altered: tuple[Alteration, ...]
    curl: str
    python: str
    reason: str


@endpoint("GET", "/api/request", "A call's exact request.")
def _request(store: Store, query: CallQuery) -> RequestAnswer:
    try:
        with refusing("model call", query.project):
            told = exact_request(store, query.project, query.span)
    except ContentMissingError as error:
        return RequestAnswer("", False, (), "", "", str(error))
    body = json.dumps(told.body, ensure_ascii=False, indent=2)
    try:
        curl, python, reason = as_curl(told), as_python(told), ""
    except NoCodeError as error:
        curl, python, reason = "", "", str(error)
    return RequestAnswer(body, told.exact, told.altered, curl, python, reason)


@dataclass(frozen=True, slots=True)
class DifferenceQuery:
    """Which two calls, by their spans."""

    project: str
    before: str
    after: str


@endpoint("GET", "/api/diff", "What changed between two model calls.")
def _difference(store: Store, query: DifferenceQuery) -> Difference:
    with refusing("model call", query.project):
        return diff(store, query.project, query.before, query.after)
