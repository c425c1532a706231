"""Take the pictures of the page that the README shows, of what ``turnspan demo`` records.

Needs Chromium, as the tests of the page do: ``make screenshots``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser, sync_playwright

import turnspan_records
from support.pages import ServedPage, browser_path, served

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
WIDTH = 1280

TROUBLED = "SELECT session_id FROM turn_summary WHERE stop_reason = 'tool_failure' LIMIT 1"
# Two versions of one agent, asked the same: there is something to see of what changed.
CALLS = """
SELECT any(project), argMin(lower(span_id), start_time) FROM llm_call WHERE turn_id IN
    (SELECT turn_id FROM turn_summary WHERE startsWith(user_message, 'Write the article'))
GROUP BY input_messages ORDER BY min(start_time), 2 LIMIT 2 OFFSET 1
"""
# Answers of different words to one prompt.
ALIKE = """
SELECT groupArray(4)(turn) FROM
    (SELECT system_prompt, input_messages, max(turn_id) AS turn FROM llm_call
    WHERE turn_id IN (SELECT turn_id FROM turn_summary WHERE llm_call_count = 1)
    GROUP BY system_prompt, input_messages, response_text)
GROUP BY system_prompt, input_messages ORDER BY count() DESC, max(turn) LIMIT 1
"""


def main() -> None:
    """Record, serve, look, write."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = f"chdb://{folder}/store"
        for more in ([], ["--camp"]):
            _demo(store, more)
        wanted = list(_addresses(store))
        with served(store, Path(folder)) as page, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path(), args=["--no-sandbox"]
            )
            for name, address, scheme, height in wanted:
                _take(browser, page, address, scheme, height, FOLDER / f"{name}.png")
            browser.close()


def _demo(store: str, more: list[str]) -> None:
    command = [str(Path(sys.executable).parent / "turnspan"), "demo", *more]
    environment = {**os.environ, "TURNSPAN_STORE": store}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def _addresses(store: str) -> Iterator[tuple[str, str, Literal["dark", "light"], int]]:
    """Each picture's name, address, theme and height."""
    with turnspan_records.open(store) as opened:
        session = str(opened.query(TROUBLED).rows[0][0])
        [(project, first), (_, second)] = opened.query(CALLS).rows
        [[turns]] = opened.query(ALIKE).rows
    yield "overview", "", "light", 800
    yield "replay", f"s/demo/{quote(session, safe='')}", "dark", 800
    yield "what-changed", f"diff/{project}/{first}..{second}", "light", 340
    yield "compare", f"compare?ids={','.join(turns)}", "dark", 460


def _take(
    browser: Browser, served_page: ServedPage, address: str, scheme: Literal["dark", "light"],
    height: int, file: Path,
) -> None:  # fmt: skip
    context = browser.new_context(
        viewport={"width": WIDTH, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{served_page.address}#t={served_page.token}")
    page.wait_for_load_state("networkidle")
    page.goto(served_page.address + address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.screenshot(path=file)
    context.close()


if __name__ == "__main__":
    main()
