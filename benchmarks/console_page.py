"""What the page costs its users: bytes, the server's time over many turns, a browser's time and
memory.

    python benchmarks/console_page.py [--turns 20000] [--calls 500] [--runs 7] [--server] [--json]

Over an embedded store, or a server's, with ``--turns`` turns of five model calls and a tool beside
one session of ``--calls`` calls, 5 MB of text with 500. ``turnspan console`` is a process of its
own; wall clock as whoever waits has it, medians of ``--runs``, so run it on a machine that does
nothing else. Without a Chromium (``TURNSPAN_TEST_CHROMIUM`` names one) the browser's rows are left
out, and it says so. ``--turns 1000000`` is what the budget of the lists is for.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.clickhouse_server import start_server
from support.landing import insert
from support.pages import ServedPage, served
from support.rows import PROJECT, T0, answered, asked, call, message, said, turn
from turnspan_clickhouse.rows.tables import Record
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.web.app import static_files

_TURNS = """
INSERT INTO turn_summary (project, session_id, turn_id, span_id, trace_id, start_time, status,
    stop_reason, agent_name, user_message, rounds, input_tokens, output_tokens, cost_usd, duration,
    models)
SELECT {project:String}, 'many-' || toString(intDiv(number, 5)), lower(hex(number)) AS turn_id,
    turn_id, lower(hex(sipHash128(number))),
    fromUnixTimestamp64Nano({begun:Int64} - toInt64(number) * 1000000000), 'final',
    if(number % 9 = 0, 'tool_failure', 'completed'), 'agent-' || toString(number % 7),
    'Question ' || toString(number), 1 + number % 6, 1000 + number % 500, number % 200,
    toDecimal64(number % 100, 9) / 1000, (number % 50) / 10,
    arrayMap(one -> 'model-' || toString(one), range(number % 3, number % 3 + 1 + number % 2))
FROM numbers({turns:UInt64})
"""
_MANY_CALLS = """
INSERT INTO llm_call (project, session_id, turn_id, trace_id, span_id, start_time, duration, round,
    provider, request_model, response_model, input_tokens, output_tokens, cache_read_tokens,
    cost_usd, error_type, agent_name)
SELECT {project:String}, 'many-' || toString(intDiv(number, 25)),
    lower(hex(intDiv(number, 5))) AS turn, lower(hex(sipHash128(turn))),
    'c' || lower(hex(number)),
    fromUnixTimestamp64Nano({begun:Int64} - toInt64(intDiv(number, 5)) * 1000000000
        + number % 5 * 1000000),
    (number % 50) / 10, 1 + number % 5, 'openai', 'gpt-4o', 'gpt-4o-2024-11-20',
    1000 + number % 500, number % 200, number % 800, toDecimal64(number % 100, 12) / 5000,
    if(number % 97 = 0, 'RateLimitError', ''), 'agent-' || toString(intDiv(number, 5) % 7)
FROM numbers({calls:UInt64})
"""
_TOOLS = """
INSERT INTO tool_call (project, session_id, turn_id, trace_id, span_id, start_time, duration, round,
    name, call_id, arguments, result, failed, error_message, agent_name)
SELECT {project:String}, 'many-' || toString(intDiv(number, 5)), lower(hex(number)) AS turn,
    lower(hex(sipHash128(turn))), 't' || lower(hex(number)),
    fromUnixTimestamp64Nano({begun:Int64} - toInt64(number) * 1000000000 + 5000000),
    (number % 50) / 100, 1, 'tool_' || toString(number % 12), 'k' || toString(number),
    '{"q": "' || toString(number % 1000) || '"}', 'found ' || toString(number), number % 9 = 0,
    if(number % 9 = 0, 'no row has the id ' || toString(number), ''),
    'agent-' || toString(number % 7)
FROM numbers({turns:UInt64})
"""
_ASKED = {
    "turns, a page": "/api/turns",
    "turns, a page that is filtered": "/api/turns?filter=stop%3Atool_failure%20agent%3Aagent-3",
    "turns, facets": "/api/facets",
    "turns, histogram": "/api/histogram",
    "sessions, a page": "/api/sessions",
    "overview, how turns end": "/api/overview/ends",
    "overview, trend": "/api/overview/trend",
    "overview, what to look at": "/api/overview/looks",
    "errors": "/api/errors",
    "a tool that fails": "/api/errors/tool?tool=tool_3",
    "found in texts": "/api/find?text=Question%20777",
    "outline of the session": f"/api/outline?project={PROJECT}&session=long",
    "one of its calls": f"/api/call?project={PROJECT}&span=call{400:012x}",
    "what changed between two": f"/api/diff?project={PROJECT}&before=call{300:012x}"
    f"&after=call{400:012x}",
    "the exact request": f"/api/request?project={PROJECT}&span=call{400:012x}",
}


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--server", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        server = start_server(home / "server") if given.server else None
        dsn = server.dsn("page") if server else Dsn("chdb", path=home / "store")
        with open_store(dsn) as store:
            migrate(store)
            fill(store, given.turns, given.calls)
        where = server.url("page") if server else f"chdb://{home / 'store'}"
        found = {**sizes(), **measured(where, home, given.runs)}
        if server:
            server.kill()
    if given.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<48} {value:>12,.1f}")


def fill(store: Store, turns: int, calls: int) -> None:
    """Many turns, and a session whose every call sends all that was said before."""
    given = {"project": PROJECT, "begun": T0 - 10**9, "turns": turns, "calls": 5 * turns}
    for sql in (_TURNS, _MANY_CALLS, _TOOLS):
        store.command(sql, given)
    rows: list[Record] = []
    talk: list[bytes] = []
    for at in range(calls):
        turn_id = f"long{at - at % 20:012x}"
        text = f"{at} " + "the light is lit at dusk, " * 400
        new = message("tool", answered(f"c{at - 1}", text), scope="long")
        if at % 20 == 0:
            new = message("user", said(text), scope="long")
            rows.append(turn(turn_id, at, session_id="long", user_message="Long watch"))
        reply = message("assistant", asked(f"c{at}", "look", n=at), scope="long")
        talk = [*talk, new.hash]
        rows += [new, reply]
        rows.append(call(f"call{at:012x}", at + 0.3, session_id="long", turn_id=turn_id,
                         input_messages=talk, output_messages=[reply.hash]))  # fmt: skip
        talk = [*talk, reply.hash]
    insert(store, *rows)


def sizes() -> dict[str, float]:
    """Kilobytes of the built files, as they travel and as they lie in the wheel."""
    files = static_files()
    packed = {name: len(gzip.compress(one.body, 9)) / 1e3 for name, one in files.items()}
    return {
        **{f"{name}, kB gzipped": kilobytes for name, kilobytes in sorted(packed.items())},
        "all built files, kB": sum(len(one.body) for one in files.values()) / 1e3,
    }


def measured(dsn: str, home: Path, runs: int) -> dict[str, float]:
    """What is asked of a server, and of a browser before it."""
    found: dict[str, float] = {}
    begun = time.perf_counter()
    with served(dsn, home) as page:
        page.ask("/")
        found["turnspan console until it answers, ms"] = (time.perf_counter() - begun) * 1e3
        page.ask("/api/store")
        found["the same, until the store answers, ms"] = (time.perf_counter() - begun) * 1e3
        for name, path in _ASKED.items():
            found[f"{name}, ms"] = taken(page, path, runs)
        wire = page.ask(_ASKED["outline of the session"]).body
        found["outline of the session, kB gzipped"] = len(gzip.compress(wire, 6)) / 1e3
        found["memory of the server with its engine, MB"] = resident(page.process.pid)
        found |= in_browser(page, runs)
    return found


def taken(page: ServedPage, path: str, runs: int) -> float:
    """How long a question takes in milliseconds: the median."""
    times: list[float] = []
    for _ in range(runs):
        begun = time.perf_counter()
        reply = page.ask(path)
        times.append((time.perf_counter() - begun) * 1e3)
        assert reply.status == 200, (path, reply.body)
    return median(times)


def resident(process: int) -> float:
    """Memory of a process in MB; 0 where the system does not tell."""
    file = Path(f"/proc/{process}/statm")
    return (
        int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if file.exists() else 0
    )


_PRESSED = """
(key) => new Promise((done) => {
  const begun = performance.now();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
})
"""
"""The time from a key to the end of the frame that it changed."""
_JUDGED = """
() => new Promise((done) => {
  const before = location.href;
  const begun = performance.now();
  const key = new KeyboardEvent("keydown", { key: "1", bubbles: true });
  document.activeElement.dispatchEvent(key);
  const look = () => {
    const next = location.href !== before && document.querySelector('.judging[aria-busy="false"]');
    next ? done(performance.now() - begun) : requestAnimationFrame(look);
  };
  look();
})
"""
"""The time from a verdict's key to the frame that shows the next turn: on disk in between."""
_VERDICTS = 12
_SCROLLED = """
() => new Promise((done) => {
  const times = [];
  let before = performance.now();
  const step = (now) => {
    times.push(now - before);
    before = now;
    window.scrollBy(0, 400);
    times.length < 120 ? requestAnimationFrame(step) : done(times.slice(1));
  };
  requestAnimationFrame(step);
})
"""
"""How long each frame takes while the page scrolls by 400 pixels a frame."""


_NOTING = """{
  const look = () => {
    if (document.body?.textContent.includes(%s)) window.textSeenAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def noting(text: str) -> str:
    """A script that notes when a page shows a text: the document itself looks, each frame, since
    whoever asks from outside takes longer than what is measured."""
    return _NOTING % json.dumps(text)


def noted(shown: Any, timeout: float = 120_000) -> float:
    """Milliseconds from the beginning of the navigation until the text is shown, once it is."""
    shown.wait_for_function("() => window.textSeenAt", timeout=timeout)
    return float(shown.evaluate("() => window.textSeenAt"))


def in_browser(page: ServedPage, runs: int) -> dict[str, float]:
    """The session in a Chromium, each time with nothing cached."""
    chromium = os.environ.get("TURNSPAN_TEST_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        print("No Chromium here: the browser's rows are left out.", file=sys.stderr)
        return {}
    texts: list[float] = []
    memory: list[float] = []
    keys: dict[str, list[float]] = {}
    frames: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(runs):
            shown: Any = browser.new_page()
            shown.add_init_script(noting("the light is lit"))
            shown.goto(f"{page.address}s/{PROJECT}/long#t={page.token}", wait_until="commit")
            texts.append(noted(shown))
            shown.wait_for_load_state("networkidle")
            for key in ("j", "n", "[", "]"):
                keys.setdefault(key, []).append(shown.evaluate(_PRESSED, key))
            frames += shown.evaluate(_SCROLLED)
            told = shown.context.new_cdp_session(shown).send("Runtime.getHeapUsage")
            memory.append(told["usedSize"] / 1e6)
            shown.close()
        shown = browser.new_page()
        shown.goto(f"{page.address}review?by=bench#t={page.token}")
        verdicts: list[float] = []
        for _ in range(_VERDICTS):
            shown.wait_for_selector('.judging[aria-busy="false"]')
            shown.wait_for_timeout(300)  # as long as a fast reader takes: the next is fetched
            verdicts.append(shown.evaluate(_JUDGED))
        browser.close()
    return {
        "session, from nothing to its first text, ms": median(texts),
        "session, heap of the page, MB": median(memory),
        **{f"session, key {key} until the next frame, ms": median(t) for key, t in keys.items()},
        "review, a verdict's key until the next turn is shown, ms": median(verdicts),
        "session, a frame while it scrolls, ms": median(frames),
        "session, frames over 50 ms while it scrolls, %": 100
        * sum(one > 50 for one in frames)
        / len(frames),
    }


if __name__ == "__main__":
    main()
