"""A receiver that nobody reads from: its spool does not fill up."""

from __future__ import annotations

import time

import pytest

from receive.otlp import request
from receive.serving import PROTOBUF, serving
from receive.test_order import TWO_AGENTS
from support.neighbour import Neighbour
from turnspan_clickhouse.receive import embedded_landing
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.with_schema


def test_much_is_landed_beside_a_reader(embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little waits for whoever reads; much lands by itself, and a reader that has the store open
    sees it."""
    monkeypatch.setattr(embedded_landing, "_LOOK_SECONDS", 0.1)
    with Neighbour(embedded_dsn) as reader:
        reader.query("SELECT 1")
        with serving(embedded_dsn, event_patience=0) as served:
            body = request("much", TWO_AGENTS).SerializeToString()
            assert served.post(body, PROTOBUF).status == 200
            time.sleep(0.5)
            waiting = len(Spool(embedded_dsn.spool).segments())
            assert waiting
            monkeypatch.setattr(embedded_landing, "MUCH_SEGMENTS", waiting)
            until = time.monotonic() + 60
            while Spool(embedded_dsn.spool).segments():
                assert time.monotonic() < until
                time.sleep(0.1)
        assert reader.query("SELECT uniqExact(span_id) FROM llm_call") == [[4]]
