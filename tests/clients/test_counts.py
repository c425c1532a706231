"""Forty clients and kinds of API against a provider that counts: rows and named gaps are as many as
the requests that it got, for each. Silent: 0; invented: 0; twice: 0."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clients.counts import Count, Counts
from clients.kinds import CLIENTS, run
from clients.provider import Provider
from turnspan.runtime.guard import errors
from turnspan.testing import record
from turnspan.wire.gaps import watch
from turnspan_clickhouse.rows.tables import LlmCall

KINDS = [(client, kind) for client, found in CLIENTS.items() for kind in found.kinds]


@pytest.fixture(autouse=True)
def watching() -> Iterator[None]:
    """The watch is on, and nothing is swallowed."""
    errors.reset()
    watch.forget()
    watch.start()
    yield
    watch.stop()
    watch.forget()
    assert errors.counts() == {}


def test_there_are_forty() -> None:
    """And more."""
    assert len(CLIENTS) >= 30
    assert len(KINDS) >= 200


def asked(provider: Provider, client: str, kind: str) -> int:
    """How many requests that may cost something the provider got of a kind.

    An SDK may refuse an answer that is as small as ours; of a chat none does.
    """
    before, free = len(provider.asked), len(provider.free)
    try:
        run(client, kind, provider)
    except Exception:  # whichever the SDK has for this
        if kind.startswith(("chat", "messages", "generate", "converse")):
            raise
    found = len(provider.asked) - before
    assert found + len(provider.free) - free > 0, "nothing was asked"
    return found


@pytest.mark.parametrize(("client", "kind"), KINDS)
def test_each_request_is_a_row_or_a_named_gap(
    client: str, kind: str, counting: Provider, counts: Counts
) -> None:
    """Everything is recorded that can be."""
    with record() as recorded:
        requests = asked(counting, client, kind)
    rows = recorded.rows(LlmCall)
    same = len(rows) - len({row.span_id for row in rows})
    count = Count(requests, len(rows), watch.total(), same)
    counts.add("recorded", client, kind, count)
    assert (count.silent, count.invented, count.twice) == (0, 0, 0), (
        count,
        counting.asked[-requests:],
        [row.operation for row in rows],
    )


@pytest.mark.parametrize(("client", "kind"), KINDS)
def test_unrecorded_each_is_a_named_gap(
    client: str, kind: str, counting: Provider, counts: Counts
) -> None:
    """Nothing is instrumented: what is asked is counted."""
    count = Count(asked(counting, client, kind), 0, watch.total())
    counts.add("only counted", client, kind, count)
    assert (count.silent, count.invented, count.twice) == (0, 0, 0), watch.seen()
