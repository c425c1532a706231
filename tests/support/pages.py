"""The page as a process of its own, and a look at it that notices everything it must not do."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import orjson
import pytest
from playwright.sync_api import Browser, Page, expect

WAITING = 60_000
"""How many milliseconds at most the page may take to show what it should: the machine may be busy.
"""
expect.set_options(timeout=WAITING)

NO_BROWSER = (
    "no Chromium here: apt-get install chromium-headless-shell, or set TURNSPAN_TEST_CHROMIUM"
)
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first needs half of the processor's time: it has no windows."""

# A violation is an event of the document: told to us by a function that the test puts there.
_REPORT = """
document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


Scheme: TypeAlias = Literal["dark", "light"]


class Reply(NamedTuple):
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, which is JSON."""
        return orjson.loads(self.body)


@dataclass(frozen=True)
class ServedPage:
    """A page that is served."""

    address: str
    """With a slash at the end."""
    token: str
    process: subprocess.Popen[str]

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        token: str | None = "",
        body: bytes | None = None,
        **headers: str,
    ) -> Reply:
        """Ask the server itself; ``token=None`` sends none, a keyword is a header."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token or self.token}"
        url = self.address + path.removeprefix("/")
        request = urllib.request.Request(url, body, sent, method=method)
        try:
            with _DIRECT.open(request, timeout=30) as answer:
                return Reply(answer.status, _lower(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, _lower(error.headers), error.read())


_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


@contextlib.contextmanager
def served(store: str, home: Path, *options: str) -> Generator[ServedPage]:
    """``turnspan console`` over a store, until the end of the block; without the receiver, unless
    an option says its port."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    command = [str(Path(sys.executable).parent / "turnspan"), "console", "--no-open"]
    if "--receive-port" not in options:
        command.append("--no-receive")
    process = subprocess.Popen(
        [*command, "--port", "0", "--store", store, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "XDG_DATA_HOME": str(home)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        entrance = process.stdout.readline().strip()
        address, _, token = entrance.partition("#t=")
        assert token, process.stderr.read()
        yield ServedPage(address, token, process)
    finally:
        process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def browser_path() -> str:
    """Where a Chromium is; without one the test is skipped, which CI counts as a failure."""
    named = os.environ.get("TURNSPAN_TEST_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip(NO_BROWSER)
    return found


class Watched:
    """A page in a browser whose every misstep is kept."""

    def __init__(
        self,
        browser: Browser,
        served_page: ServedPage,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Scheme = "light",
        bypass_csp: bool = False,
    ) -> None:
        self.served = served_page
        self.problems: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Words of problems that the test provokes."""
        self._context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            bypass_csp=bypass_csp,  # for axe, which is put into the page as a script
        )
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(WAITING)
        self.page.on("console", lambda said: self._said(said.type, said.text))
        self.page.on("pageerror", lambda error: self.problems.append(f"raised: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("dialog", lambda dialog: self._dialog(dialog))
        page: Any = self.page  # whose types are partly unknown
        page.expose_function("reportViolation", self._violated)
        self.page.add_init_script(_REPORT)

    def go(self, path: str, *, token: bool = False) -> None:
        """Open an address of the page, with the token as ``turnspan console`` prints it."""
        fragment = f"#t={self.served.token}" if token else ""
        self.page.goto(self.served.address + path.removeprefix("/") + fragment)

    def turn_to(self, path: str) -> None:
        """Show an address as the page's own links do: the document stays."""
        self.page.evaluate(
            """to => {
              history.pushState(null, "", to);
              dispatchEvent(new PopStateEvent("popstate"));
            }""",
            "/" + path.removeprefix("/"),
        )

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def path(self) -> str:
        """The address that is shown, without its origin. The document says it: what the driver
        knows of it comes later than the key that changed it."""
        shown = str(self.page.evaluate("location.href"))
        return "/" + shown.removeprefix(self.served.address)

    def close(self) -> list[str]:
        """End it; returns what went wrong, but for what was provoked."""
        self._context.close()
        expected = self.expected
        if self.served.process.poll() is not None:
            # The frame asks by itself what arrives, of a server that ended before its page too.
            expected += ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
        return [one for one in self.problems if not any(words in one for words in expected)]

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(f"console: {text}")

    def _violated(self, what: str) -> None:
        self.problems.append(f"policy: {what}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.served.address, "data:", f"blob:{self.served.address}")):
            self.problems.append(f"asked elsewhere: {url}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


class Look(Protocol):
    """The fixture ``look``."""

    def __call__(
        self,
        page: ServedPage,
        path: str,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Scheme = "light",
        bypass_csp: bool = False,
    ) -> Watched:
        """Open an address of a page in a context of its own."""
        ...
