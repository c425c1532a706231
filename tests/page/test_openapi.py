"""Schemathesis asks every endpoint what its description allows, and what it does not."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, cast

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks

from support.pages import ServedPage
from turnspan_console.web.api import endpoints

EXAMPLES = int(os.environ.get("TURNSPAN_TEST_EXAMPLES", "2"))
"""For each endpoint, half of them outside of its description; by hand some hundreds."""
_CHECKS: Any = checks  # whose types are partly unknown
CHECKS = (
    _CHECKS.status_code_conformance,
    _CHECKS.content_type_conformance,
    _CHECKS.response_schema_conformance,
)
UNJUDGED = [
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]
"""They judge how requests are made and how busy the machine is, not what is answered."""
READING = ("/api/sql", "/api/messages")
"""What is sent to these is only asked; other bodies are judgments, which need ids to be kept."""

# Values that are text to a schema, and ids, times and numbers to what reads them.
ODD = ("\x00", "\ud7ff\u202e", "9" * 40, "-1", "nan", "1e999", "9999-12-31", "0001-01-01T00:00:00Z",
       "2026-02-30", "7d", "99999999999d", "..", "%", "'; --", "stop:", "cost>1e999", 'a:"',
       "a" * 5_000, ",".join("ab" * 8 for _ in range(200)))  # fmt: skip


@pytest.fixture(scope="module")
def described(demo_page: ServedPage) -> Any:
    """The description as the server gives it."""
    return schemathesis.openapi.from_dict(demo_page.ask("/api/openapi.json").json())


@pytest.fixture(scope="module")
def known(demo_page: ServedPage) -> Mapping[str, tuple[str, ...]]:
    """Ids that are in the store, by the names that parameters have for them."""
    turns = demo_page.ask("/api/turns?limit=200").json()["turns"][::12]
    found: dict[str, tuple[str, ...]] = {
        name: tuple(dict.fromkeys(str(one[name]) for one in turns))
        for name in ("project", "session", "turn")
    }
    outlines = [
        demo_page.ask(requests.Request("GET", "http://x/api/outline", params={
            "project": one["project"], "session": one["session"]}).prepare().path_url).json()
        for one in turns
    ]  # fmt: skip
    spans = [call["span_id"] for one in outlines for call in one["outline"]["calls"]]
    return {**found, "span": tuple(spans), "a": tuple(spans), "b": tuple(spans),
            "id": tuple(spans), "ids": (",".join(found["turn"][:4]),)}  # fmt: skip


@pytest.mark.parametrize(("method", "path"), [(one.method, one.path) for one in endpoints()])
def test_answers_are_as_described(
    method: str,
    path: str,
    described: Any,
    known: Mapping[str, tuple[str, ...]],
    demo_page: ServedPage,
) -> None:
    """Nothing is an internal error, and each answer has its schema and its kind."""
    operation: Any = described[path][method]  # its types are partly unknown
    kept, broken = (
        operation.as_strategy(mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    )
    address = demo_page.address.rstrip("/")
    known_to_it = {"Authorization": f"Bearer {demo_page.token}"}
    with requests.Session() as session:
        session.trust_env = False

        @seed(14)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=UNJUDGED,
        )
        @given(data=st.data())
        def ask(data: st.DataObject) -> None:
            case: Any = data.draw(broken if data.draw(st.booleans()) else kept)
            place: Any = case.query if method == "GET" else case.body if path in READING else None
            if isinstance(place, dict) and place:
                names: list[str] = sorted(cast("dict[str, Any]", place))
                for name in data.draw(st.sets(st.sampled_from(names))):
                    place[name] = data.draw(st.sampled_from([*ODD, *known.get(name, ()) * 5]))
            answer = case.call(address, session=session, headers=known_to_it)
            assert answer.status_code < 500, answer.text
            if answer.status_code in (413, 415):  # the guard's, before any endpoint
                return
            case.validate_response(answer, checks=[*CHECKS])

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask()
