"""A session of a coding agent on the page while it runs, followed by ``turnspan watch coding``."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from playwright.sync_api import expect

from support.claude_sessions import ClaudeSession
from support.pages import Look, served
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store


def test_a_running_session_is_shown_live(look: Look, server_dsn: Dsn, tmp_path: Path) -> None:
    """On a phone, in the dark: the prompt is there while the agent works, what it does is appended,
    and the turn ends; what agents read and write is only text."""
    with open_store(server_dsn) as store:
        migrate(store)
    name = "0c000001-0000-4000-8000-000000000000"
    folder = tmp_path / "projects"
    session = ClaudeSession(folder / "shop" / f"{name}.jsonl", began=datetime.now(timezone.utc))
    session.ask("Fix \u202e<b>it</b> \x1b[31m")
    session.use("req_1", "toolu_1", "Bash", command="ls <script>")
    words = ["--store", str(server_dsn), "watch", "coding", str(folder)]
    watch = subprocess.Popen([sys.executable, "-m", "turnspan_console", *words])
    try:
        with served(str(server_dsn), tmp_path / "home") as page:
            seen = look(page, f"/s/shop/{name}?f=1", width=390, scheme="dark")
            seen.expected = ("ERR_CONNECTION_REFUSED",)  # of the server that ends before the page
            rows = seen.page.locator(".rows")
            expect(rows).to_contain_text("<b>it</b>", timeout=20_000)
            expect(seen.page.locator("header.bar")).not_to_contain_text("nothing runs")
            assert page.ask("/api/arrivals").json()["running"] == 1
            session.result("toolu_1", "a.py <script>alert(1)</script>")
            session.answer("req_2", "All is mended")
            expect(rows).to_contain_text("All is mended", timeout=20_000)
            expect(rows).to_contain_text("completed", timeout=20_000)
            expect(seen.page.locator("header.bar")).to_contain_text("nothing runs")
            wide = "document.documentElement.scrollWidth - innerWidth"
            assert seen.page.evaluate(wide) <= 0
            seen.page.screenshot(path=str(tmp_path / "live.png"))
    finally:
        watch.terminate()
        assert watch.wait(30) == 0
