"""A store of the records of coding sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kept_stores import KeptStores
from turnspan_clickhouse.store.client import Store


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that an export registers are those of its test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def embedded(kept_stores: KeptStores, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty embedded store, for what does not depend on the kind of store."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    with kept_stores.lend("embedded") as made:
        yield made
