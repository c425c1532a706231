"""``turnspan status``: what waits, what is stored, which versions."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import UNAVAILABLE, Failure
from turnspan_console.options import chosen_dsn, format_option, store_option

if TYPE_CHECKING:
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_console.output import Output


@click.command("status", short_help="Show what waits in the spool, what the store holds, versions.")
@format_option("text", "json")
@store_option
def command(format_: str) -> None:
    """Show the spool, the store and the versions. It lands and changes nothing."""
    from turnspan_console.output import Output

    output = Output()
    dsn = chosen_dsn()
    spool, receivers = _spool(dsn), _receivers(dsn)
    store, versions = _store(dsn), _versions()
    if format_ == "json":
        told = {"store": store, "spool": spool, "receivers": receivers, "versions": versions}
        output.json(told)
    else:
        _print(output, spool, receivers, store, versions)
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


def _receivers(dsn: Dsn) -> list[dict[str, Any]]:
    from turnspan_clickhouse.receive.receiver_stats import read_receiver_stats

    return [{**asdict(one), "alive": one.alive} for one in read_receiver_stats(dsn.spool)]


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
    told = {"python": platform.python_version()}
    for name in (
        "turnspan",
        "opentelemetry-api",
        "opentelemetry-sdk",
        "clickhouse-connect",
        "chdb-core",
        "openai",
        "anthropic",
    ):
        try:
            told[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            told[name] = "not installed"
    return told


def _print(
    output: Output,
    spool: dict[str, Any],
    receivers: list[dict[str, Any]],
    store: dict[str, Any],
    versions: dict[str, str],
) -> None:
    from turnspan_console import styles
    from turnspan_console.page import Page

    page = Page(output, full=True)
    page.line(("Store  ", styles.TITLE), (store["store"], styles.TITLE))
    _print_store(page, output, store)
    page.blank()
    page.line(("Spool  ", styles.TITLE), (spool["folder"], styles.TITLE))
    _print_spool(page, output, spool)
    page.blank()
    if receivers:
        page.line(("Receivers", styles.TITLE))
        _print_receivers(page, receivers)
        page.blank()
    page.line(("Versions", styles.TITLE))
    width = max(len(name) for name in versions)
    for name, version in versions.items():
        style = styles.FAINT if version == "not installed" else ""
        page.line((f"  {name:{width}}  ", styles.FAINT), (version, style))


def _print_store(page: Any, output: Output, store: dict[str, Any]) -> None:
    from turnspan_console import styles
    from turnspan_console.panels.results import print_rows

    if not store["exists"]:
        page.line(("  does not exist: nothing was recorded in it yet", styles.FAINT))
        return
    if "engine_version" not in store:
        page.line(("  cannot be used", styles.BAD))
        return
    known, wanted = store.get("schema_version", 0), store["client_schema_version"]
    current = known == wanted
    remedy = "upgrade it" if known > wanted else "turnspan migrate"
    page.line(
        (f"  {store['kind']}, ClickHouse {store['engine_version']}, schema ", styles.FAINT),
        (f"{known}", styles.FAINT if current else styles.WARN),
        ("" if current else f" (this Turnspan has {wanted}: {remedy})", styles.WARN),
    )
    rows = [
        (table, one["rows"], one["bytes"], one["parts"])
        for table, one in store.get("tables", {}).items()
    ]
    if store.get("tables") == {}:
        page.line(("  how large its tables are this user may not see", styles.FAINT))
    print_rows(("table", "rows", "bytes", "parts"), rows, output)


def _print_spool(page: Any, output: Output, spool: dict[str, Any]) -> None:
    from turnspan_console import styles
    from turnspan_console.panels.results import print_rows
    from turnspan_console.values import moment, size

    writers = f"writers: {spool['writers_alive']} alive, {spool['writers_dead']} closed or dead"
    if spool["segments"]:
        page.line(
            f"  {spool['segments']:,} segments wait, {size(spool['bytes'])} of "
            f"{size(spool['limit_bytes'])}, since {moment(spool['oldest'])}; {writers}"
        )
        rows = [(name, one["segments"], one["bytes"]) for name, one in spool["tables"].items()]
        print_rows(("table", "segments", "bytes"), rows, output)
    else:
        page.line((f"  nothing waits; {writers}", styles.FAINT))
    if spool["rejected_segments"]:
        rejected = f"{spool['rejected_segments']:,} refused, {size(spool['rejected_bytes'])}"
        page.line((f"  {rejected}: turnspan doctor says why", styles.BAD))
    page.line((f"  {spool['account']}", styles.BAD if spool["dropped_rows"] else styles.FAINT))
    found = spool["shipping"]
    if found:
        style = styles.BAD if found["stuck"] else styles.FAINT
        page.line((f"  {found['said']}, ships", style))


def _print_receivers(page: Any, receivers: list[dict[str, Any]]) -> None:
    from turnspan_console import styles

    for one in receivers:
        life = "alive" if one["alive"] else "ended" if one["ended"] else "gone"
        told = f"{one['spans']:,} spans taken, {one['again']:,} sent again"
        page.line(f"  {one['address']} ({one['token']}, {life}): {told}")
        bad = ", ".join(f"{one[name]:,} {name}" for name in ("refused", "lost") if one[name])
        if bad:
            page.line((f"    {bad}: its log says why", styles.BAD))
        answers = ", ".join(f"{n:,} x {code}" for code, n in sorted(one["answers"].items()))
        page.line(
            (
                f"    {one['traces_under_way']:,} traces under way; answers: {answers or 'none'}",
                styles.FAINT,
            )
        )
        if one["failure"]:
            page.line((f"    {one['failure']}", styles.BAD))
