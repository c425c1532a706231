"""``turnspan status``: what waits, what is stored, which versions."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import UNAVAILABLE, Failure
from turnspan_console.options import chosen_dsn, format_option, store_option
from turnspan_console.output import JSON_VERSION, Output

if TYPE_CHECKING:
    from turnspan_clickhouse.store.dsn import Dsn


@click.command("status", short_help="Show what waits in the spool, what the store holds, versions.")
@format_option("text", "json")
@store_option
def command(format_: str) -> None:
    """Show the spool, the store and the versions. It lands and changes nothing.

    \b
      turnspan status
    """
    from turnspan_clickhouse.receive.receiver_stats import read_receiver_stats
    from turnspan_console.panels.status import print_status

    dsn = chosen_dsn()
    receivers = [{**asdict(one), "alive": one.alive} for one in read_receiver_stats(dsn.spool)]
    store, spool = _store(dsn), _spool(dsn)
    status = {"store": store, "spool": spool, "receivers": receivers, "versions": _versions()}
    Output().answer(status, format_, print_status)
    if store.get("error"):
        raise Failure(str(store["error"]), UNAVAILABLE)
    if not store["exists"] and not spool["segments"]:
        raise Failure(f"There is no store {store['store']} yet.", UNAVAILABLE)


def _spool(dsn: Dsn) -> dict[str, Any]:
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_records.access.spooled import shipping, writers

    spool = Spool(dsn.spool)
    found = shipping(spool)
    usage = spool.usage()
    counts = writers(spool)
    return {
        "folder": str(spool.folder),
        "segments": usage.segments,
        "bytes": usage.bytes,
        "limit_bytes": spool.limit_bytes,
        "oldest": usage.oldest,
        "tables": {
            table: {"segments": segments, "bytes": size}
            for table, (segments, size) in sorted(usage.by_table.items())
        },
        "queued_spans": usage.queued,
        "spooled_rows": usage.rows,
        "shipped_rows": usage.shipped,
        "rejected_segments": usage.rejected,
        "rejected_rows": usage.rejected_rows,
        "rejected_bytes": usage.rejected_bytes,
        "dropped_rows": usage.dropped,
        "account": str(usage.stats),
        "writers_alive": counts.alive,
        "writers_dead": counts.dead,
        "shipping": found and {**asdict(found), "stuck": found.stuck, "said": str(found)},
    }


def _store(dsn: Dsn) -> dict[str, Any]:
    from turnspan_clickhouse.errors import StoreError
    from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, current_version
    from turnspan_clickhouse.store.opening import open_store
    from turnspan_records.screens.inventory import table_sizes

    told: dict[str, Any] = {
        "store": str(dsn),
        "kind": "embedded" if dsn.embedded else "cluster" if dsn.cluster else "server",
        "exists": True,
        "reachable": False,
        "client_schema_version": SCHEMA_VERSION,
    }
    if dsn.path is not None and not (dsn.path / "engine").exists():
        return {**told, "exists": False}
    try:
        with open_store(dsn, wait=3.0) as store:
            told["reachable"] = True
            told["engine_version"] = store.server_version()
            told["schema_version"] = current_version(store)
            told["exists"] = bool(told["schema_version"])
            told["tables"] = {
                one.table: {"rows": one.rows, "bytes": one.bytes, "parts": one.parts}
                for one in table_sizes(store)
            }
    except StoreError as error:
        told["error"] = str(error)
    return told


def _versions() -> dict[str, str]:
    told = {"python": platform.python_version(), "JSON output": str(JSON_VERSION)}
    for name in (
        *("turnspan", "opentelemetry-api", "opentelemetry-sdk", "clickhouse-connect"),
        *("chdb-core", "openai", "anthropic"),
    ):
        try:
            told[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            told[name] = "not installed"
    return told
