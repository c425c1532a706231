"""A real MediaWiki on loopback: Debian's package, SQLite and PHP's own web server.

Where the packages are missing, apt installs them; where there is no apt, or it may not, the tests
that need a wiki are skipped with that reason.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from turnspan_records.quality.mediawiki_client import Credentials, MediaWiki

_CODE = Path("/usr/share/mediawiki")
_PACKAGES = ("mediawiki", "php-cli", "php-sqlite3", "php-mbstring", "php-xml", "php-intl")
_STARTING = 30.0
PASSWORD = "a-Long-pass-word-7"
BOT_PASSWORD = "0123456789abcdef0123456789abcdef"
SETTINGS = """
$wgServer = "http://127.0.0.1:" . ( $_SERVER['SERVER_PORT'] ?? '80' );
$wgRateLimits = [];
$wgJobRunRate = 5;
$wgRunJobsAsync = false;
$wgMainCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_DB;
$wgExtraNamespaces[3000] = 'Encyclopedia';
$wgExtraNamespaces[3001] = 'Encyclopedia_talk';
$wgExtraNamespaces[3002] = 'Instructions';
$wgExtraNamespaces[3004] = 'Sources';
"""
PRIVATE = "$wgGroupPermissions['*']['read'] = false;\n"


@dataclass
class RealWiki:
    """A wiki, open to everybody and once more to members only, with people in it."""

    api: str
    private_api: str
    people: dict[str, MediaWiki] = field(default_factory=dict[str, MediaWiki])

    def by(self, name: str) -> MediaWiki:
        """The wiki, as somebody who is logged in: Admin, Agent, Ada, Bob (people), Tidy (a bot)."""
        if name not in self.people:
            self.people[name] = MediaWiki(self.api, Credentials(name, PASSWORD), wait=_no_wait)
        return self.people[name]

    def write(self, name: str, title: str, text: str, **given: Any) -> int:
        """Have somebody write a page; returns the revision."""
        return self.by(name).edit(title, text, **given).revision

    def act(self, name: str, action: str, **given: Any) -> dict[str, Any]:
        """Have somebody do something else."""
        return self.by(name).act(action=action, **given)

    def undo(self, name: str, title: str, revision: int) -> int:
        """Have somebody undo a revision."""
        done = self.act(name, "edit", title=title, undo=revision)
        return int(done["edit"]["newrevid"])

    def rollback(self, name: str, title: str, user: str) -> None:
        """Have somebody roll back what somebody else wrote last."""
        token = self.by(name).ask(action="query", meta="tokens", type="rollback")
        given = token["query"]["tokens"]["rollbacktoken"]
        self.by(name).ask(action="rollback", title=title, user=user, token=given)


@pytest.fixture(scope="session")
def real_wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealWiki]:
    """One wiki for the whole run; each test has pages of its own."""
    lacking = _lacking()
    if lacking:
        pytest.skip(f"there is no MediaWiki here: {lacking}")
    folder = tmp_path_factory.mktemp("mediawiki")
    settings = _installed(folder)
    private = folder / "PrivateSettings.php"
    private.write_text(settings.read_text() + PRIVATE)
    with _serving(settings) as url, _serving(private) as private_url:
        yield RealWiki(f"{url}/api.php", f"{private_url}/api.php")


@cache
def _lacking() -> str:
    """Why there is no MediaWiki, after an attempt to install it; empty where there is one."""
    if _there():
        return ""
    apt = shutil.which("apt-get")
    if apt is None:
        return "its packages are Debian's, and there is no apt-get"
    may = [] if os.geteuid() == 0 else ["sudo", "-n"]
    for arguments in (("update",), ("install", "-y", "--no-install-recommends", *_PACKAGES)):
        done = subprocess.run(
            [*may, apt, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
    return "" if _there() else f"apt-get did not install it: {done.stderr.strip()[-200:]}"


def _there() -> bool:
    return shutil.which("php") is not None and (_CODE / "maintenance/install.php").exists()


def _installed(folder: Path) -> Path:
    """Install a wiki, with people; returns its settings. The code stays where it is."""
    _php(
        "install.php", "--confpath", str(folder), "--dbtype", "sqlite",
        "--dbpath", str(folder / "db"), "--dbname", "wiki", "--server", "http://127.0.0.1",
        "--scriptpath", "", "--pass", PASSWORD, "Trial", "Admin",
    )  # fmt: skip
    settings = folder / "LocalSettings.php"
    settings.write_text(settings.read_text() + SETTINGS)
    for name, *group in (("Agent",), ("Ada", "--sysop"), ("Bob",), ("Tidy", "--bot")):
        _php("createAndPromote.php", "--conf", str(settings), *group, name, PASSWORD)
    _php(
        "createBotPassword.php", "--conf", str(settings), "--appid", "trial",
        "--grants", "basic,editpage,createeditmovepage", "Agent", BOT_PASSWORD,
    )  # fmt: skip
    return settings


def _php(script: str, *arguments: str) -> None:
    done = subprocess.run(
        ["php", str(_CODE / "maintenance" / script), *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _serving(settings: Path) -> Generator[str]:
    """Serve a wiki by these settings; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log = settings.with_suffix(".log").open("wb")
    server = subprocess.Popen(
        ["php", "-d", "session.save_path=/tmp", "-S", f"127.0.0.1:{port}", "-t", str(_CODE)],
        env={**os.environ, "MW_CONFIG_FILE": str(settings)},
        stdout=log,
        stderr=log,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        give_up = time.monotonic() + _STARTING
        while True:
            try:
                urllib.request.urlopen(
                    f"{url}/api.php?action=query&format=json", timeout=20
                ).close()
                break
            except (urllib.error.URLError, OSError):
                assert server.poll() is None and time.monotonic() < give_up, "no MediaWiki"
                time.sleep(0.05)
        yield url
    finally:
        server.kill()
        server.wait()
        log.close()


def _no_wait(seconds: float) -> None:
    time.sleep(min(seconds, 0.05))
