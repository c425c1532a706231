"""What waits, what is stored and which versions run, on the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.panels.results import print_rows
from turnspan_console.values import moment, size


def print_status(status: Mapping[str, Any], output: Output) -> None:
    """Write what ``turnspan status`` has as JSON, for a person."""
    page = Page(output, full=True)
    store, spool, versions = status["store"], status["spool"], status["versions"]
    page.line(("Store  ", styles.TITLE), (store["store"], styles.TITLE))
    _print_store(page, store)
    page.blank()
    page.line(("Spool  ", styles.TITLE), (spool["folder"], styles.TITLE))
    _print_spool(page, spool)
    page.blank()
    if status["receivers"]:
        page.line(("Receivers", styles.TITLE))
        _print_receivers(page, status["receivers"])
        page.blank()
    page.line(("Versions", styles.TITLE))
    width = max(len(name) for name in versions)
    for name, version in versions.items():
        style = styles.FAINT if version == "not installed" else ""
        page.line((f"  {name:{width}}  ", styles.FAINT), (version, style))


def _print_store(page: Page, store: Mapping[str, Any]) -> None:
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
    print_rows(("table", "rows", "bytes", "parts"), rows, page.output)


def _print_spool(page: Page, spool: Mapping[str, Any]) -> None:
    writers = f"writers: {spool['writers_alive']} alive, {spool['writers_dead']} closed or dead"
    if spool["segments"]:
        page.line(
            f"  {spool['segments']:,} segments wait, {size(spool['bytes'])} of "
            f"{size(spool['limit_bytes'])}, since {moment(spool['oldest'])}; {writers}"
        )
        rows = [(name, one["segments"], one["bytes"]) for name, one in spool["tables"].items()]
        print_rows(("table", "segments", "bytes"), rows, page.output)
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


def _print_receivers(page: Page, receivers: Sequence[Mapping[str, Any]]) -> None:
    for one in receivers:
        life = "alive" if one["alive"] else "ended" if one["ended"] else "gone"
        told = f"{one['spans']:,} spans taken, {one['again']:,} sent again"
        page.line(f"  {one['address']} ({one['token']}, {life}): {told}")
        bad = ", ".join(f"{one[name]:,} {name}" for name in ("refused", "lost") if one[name])
        if bad:
            page.line((f"    {bad}: its log says why", styles.BAD))
        answers = ", ".join(f"{n:,} x {code}" for code, n in sorted(one["answers"].items()))
        under_way = f"{one['traces_under_way']:,} traces under way; answers: {answers or 'none'}"
        page.line((f"    {under_way}", styles.FAINT))
        left_out = ", ".join(f"{n:,} {name}" for name, n in sorted(one["left_out"].items()))
        if left_out:
            page.line((f"    left out: {left_out}", styles.FAINT))
        if one["failure"]:
            page.line((f"    {one['failure']}", styles.BAD))
