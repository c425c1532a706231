"""How long after a record is on disk a session that is followed shows it.

    python benchmarks/console_live.py [--calls 10] [--json]

An agent, ``turnspan console`` and a Chromium (``TURNSPAN_TEST_CHROMIUM`` names one), each a process
of its own, over an embedded store and over a server. From the moment ``flush(local=True)`` has
returned to that in which the document has the text; median and worst of ``--calls``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.clickhouse_server import start_server
from support.pages import browser_path, served
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

_AGENT = """
import sys, time, turnspan
turnspan.configure(project="live", capture_content=True)
@turnspan.agent(name="slow")
def turn(calls):
    for at in range(-1, calls):
        messages = [{"role": "user", "content": "go on"}]
        with turnspan.inference(model="m", provider="p", messages=messages) as call:
            call.response(text=f"answer-{at};")
        turnspan.flush(local=True)
        print(at, time.time(), flush=True)
        sys.stdin.readline()  # until somebody follows
        time.sleep(1.3 + at % 7 / 7)  # at no fixed distance from when the page asks
with turnspan.session("live"):
    turn(int(sys.argv[1]))
"""
_LOOK = r"""() => {
  window.shown = {};
  const look = () => {
    for (const [, at] of document.body.innerText.matchAll(/answer-(\d+);/g))
      window.shown[at] ??= Date.now() / 1000;
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
}"""


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        found = {"embedded": waits(f"chdb://{home / 'store'}", home, browser, given.calls)}
        server = start_server(home / "server")
        try:
            server.run("CREATE DATABASE live")
            found["server"] = waits(server.url("live"), home, browser, given.calls)
        finally:
            server.stop()
        browser.close()
    if given.json:
        print(json.dumps(found, indent=2))
        return
    for name, seconds in found.items():
        print(f"{name}: median {median(seconds):.2f} s, worst {max(seconds):.2f} s")


def waits(dsn: str, home: Path, browser: Browser, calls: int) -> list[float]:
    """Seconds from on disk to on screen, of each call."""
    with open_store(parse(dsn)) as store:
        migrate(store)
    agent = subprocess.Popen(
        [sys.executable, "-c", _AGENT, str(calls)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TURNSPAN_STORE": dsn},
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    agent.stdout.readline()
    with served(dsn, home) as served_page:
        page = browser.new_page()
        page.goto(f"{served_page.address}s/live/live?f=1#t={served_page.token}")
        page.wait_for_selector(".rows:has-text('answer--1;')")
        page.evaluate(_LOOK)
        agent.stdin.write("\n" * (calls + 1))
        agent.stdin.flush()
        written = dict(line.split() for line in agent.stdout)
        page.wait_for_function("calls => Object.keys(shown).length === calls", arg=calls)
        shown: dict[str, float] = page.evaluate("shown")
        page.close()
    agent.stdin.close()
    agent.stdout.close()
    agent.wait()
    return [shown[at] - float(written[at]) for at in shown]


if __name__ == "__main__":
    main()
