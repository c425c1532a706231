"""What makes a store's tables and views, and by which statements one is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.snapshots import Asked, Recorder, compare, kept
from turnspan_clickhouse.store import jaeger
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate, render
from turnspan_clickhouse.store.opening import open_store

TOPIC = "schema"
CLUSTER = Dsn(scheme="http", host="h", database="turnspan", cluster="c")
NAMES = ("opening", "looking-up", "migrating", "cluster", "jaeger", "jaeger-content")


@pytest.fixture(scope="module")
def asked(recorder: Recorder, opening: Mapping[str, Asked], home: Path) -> Mapping[str, Asked]:
    """The schema of each kind of store; ``migrating`` is what really runs, on a fresh store."""
    fresh = Dsn(scheme="chdb", path=home / "store")
    with open_store(fresh) as store:
        migrating = recorder.ask(lambda: migrate(store) and None)
    bare, with_content = (jaeger.render(fresh, content=content) for content in (False, True))
    return {
        **opening,
        "migrating": migrating,
        "cluster": _texts(render(CLUSTER)),
        "jaeger": _texts(bare),
        "jaeger-content": _texts([one for one in with_content if one not in bare]),
    }


def _texts(steps: list[tuple[str, str]]) -> Asked:
    return Asked([text for _, text in steps])


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_made_as_before(
    name: str, asked: Mapping[str, Asked], sql: Mapping[str, str]
) -> None:
    """The statements are those of the snapshot."""
    compare(TOPIC, asked, name, sql)


def test_no_file_is_left() -> None:
    """Of a part that is gone."""
    assert kept(TOPIC) == set(NAMES)
