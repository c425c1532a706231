"""Stores' addresses: strange names and passwords, and what is said of those that are misspelt."""

from __future__ import annotations

import random
import re
import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.cli import turnspan

ADDRESSES = [
    "http://default@h:8123/turnspan",
    "https://h",
    "http://[::1]:9000/db",
    "http://us%40er@h:1/my%2Fdb%3F%23",
    "http://h/caf%C3%A9%20%60%22%27%5C?cluster=a%26b&replicated=no",
    "chdb:///a%20b%23c%3F",
]


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_is_told_so_that_it_can_be_given_again(text: str) -> None:
    """As `turnspan demo` tells it: read again it names the same store."""
    dsn = parse(text)
    assert parse(str(dsn)) == dsn


def test_a_password_is_as_it_was_before_it_was_quoted() -> None:
    """Every character that means something in an address; none of it is told."""
    dsn = parse("http://u:p%40ss%2F%23%3F%5B%25:w@[2001:db8::1]/db")
    assert (dsn.host, dsn.password) == ("2001:db8::1", "p@ss/#?[%:w")
    assert str(dsn) == "http://u@[2001:db8::1]:8123/db"
    assert "p@ss" not in repr(dsn)


MISSPELT = [
    "http:u:hunter2@host/db",
    "http:/u:hunter2@host/db",
    "http//u:hunter2@host/db",
    "u:hunter2@host:8123/db",
    "u:hunter2",
    "http://u:hunter2",
    "http://host:8123@u:hunter2/db",
    "http://u%3Ahunter2@host/db",
    "http://u:1/hunter2@host/db",
    "http://u:1#hunter2@host/db",
    "http://u:1?hunter2@host/db",
    "http://u:1?hunter2=3@host/db",
    "http://u/hunter2@host/db",
    "http://u:hunter2\u2100@host/db",
    "http://u:hunter2@ho st/db",
    "http://u:hunter2@host^name/db",
    "clickhouse://u:hunter2@host/db",
    "hunter2://u@host/db",
    "chdb:///u:hunter2@host/db",
    "chdb:u:hunter2@host",
    "http://u@host/db?hunter2=1",
    "http://u:hunter#2@host/db",
    "http://u:hunter/2@host/db",
    "http://u:hunter?2@host:1/db",
    "http://u:hunter[2@host/db",
    "http://u:hunter2@host:99999/db",
    "http://u:hunter2@/db",
    "ftp://u:hunter2@host/db",
    "chdb://u:hunter2@host/db",
]


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_address_is_a_sentence_without_the_password(text: str) -> None:
    """Also where the password's own characters are what is wrong with it."""
    with pytest.raises(StoreError) as failure:
        parse(text)
    assert "hunter" not in str(failure.value)
    assert "\n" not in str(failure.value)


SHOWN = [
    ("clickhouse://u:hunter2@host:9000/db", "clickhouse://u:***@host:9000/db"),
    ("clickhouse://u:hunt@er#2/@host", "clickhouse://u:***@host"),
    ("postgres://u.x:hunter2@[::1]:1/db", "postgres://u.x:***@[::1]:1/db"),
    ("http://u:hunter2@host:8123/db?user=hunter2&cluster=a&x=hunter2&password=hunter2",
     "http://u:***@host:8123/db?user=***&cluster=a&***&password=***"),
    ("https://host/db?password=hunter2", "https://host/db?password=***"),
    ("http://u:hunter2@host:99999/db", "http://u:***@host:99999/db"),
    ("http://u:hunter2@host:port/db", "http://u:***@***"),
    ("http://hunter2@host:8123/db?x=1", "http://***@host:8123/db?***"),
    ("http://user:hunter2.host:8123/db", "http://***"),
    ("chdb://relative/path", "chdb://relative/path"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_of_a_bad_address_the_password_alone_is_hidden(text: str, shown: str) -> None:
    """Wherever it stands, as far as it can be told where it ends."""
    with pytest.raises(StoreError, match=re.escape(f"store {shown!r} ")):
        parse(text)


GOOD = "http://user:PASSWORD@127.0.0.1:9/db"
SECRETS = ("Xq7vKp2m", "Xq7/vKp2m", "Xq7#vKp2m", "Xq7?vKp2m", "Xq7@vKp2m", "Xq7:vKp2m", "Xq7 vKp2m",
           "Xq7[vKp2m", "Xq7%vKp2m", "Xq7&vKp2m=1", "Xq7;vKp2m", "Xq7\\vKp2m", "8123/vKp2m",
           "8123?vKp2m", "8123#vKp2m")  # fmt: skip
"""Of each no part of four letters may be told."""


def misspelt(rng: random.Random) -> tuple[str, str]:
    """An address with a password in it and up to three slips of the finger, and that password."""
    secret = rng.choice(SECRETS)
    text = GOOD.replace("http", rng.choice(["http", "https", "chdb", "htp", "clickhouse"]), 1)
    before, after = text.split("PASSWORD")
    for _ in range(rng.randrange(4)):
        part = rng.choice((before, after))
        at = rng.randrange(len(part))
        slip = rng.choice(["", part[at] * 2, rng.choice(":/@?#[] .%&"), part[at].upper()])
        changed = part[:at] + slip + part[at + 1 :]
        before, after = (changed, after) if part is before else (before, changed)
    return before + secret + after, secret


def test_however_an_address_is_misspelt_its_password_is_not_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither where it is read, nor by what then cannot be reached, nor by the commands."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    rng = random.Random(7)
    reached = 0
    for round_ in range(4_000):
        text, secret = misspelt(rng)
        told: list[str] = []
        ends = secret in text.rpartition("@")[0]
        try:
            dsn = parse(text)
        except StoreError as error:
            if not ends and "@" in secret:
                continue  # its own @ stands where the last one belongs
            told += traceback.format_exception_only(error)
        else:
            if re.fullmatch(r"[\w.@+-]+", dsn.user) and "vKp2m" in dsn.user:
                continue  # without the colon nothing tells it from the name of a user
            if not ends:
                continue  # without the last @ nothing tells what is behind its own from a host
            told += [repr(dsn), str(dsn)]
            if dsn.scheme != "chdb" and dsn.host == "127.0.0.1" and reached < 40:
                reached += 1
                try:
                    open_store(dsn).close()
                except StoreError as error:
                    told += [str(error)]
        if round_ % 100 == 0:
            for command in (("turns",), ("status",), ("sql", "SELECT 1"), ("migrate", "--dry-run")):
                done = CliRunner().invoke(turnspan, ["--store", text, *command])
                told += [done.stdout, done.stderr]
        for said in told:
            assert not _holds(said, secret), (text, said)
    assert reached == 40


def _holds(said: str, secret: str) -> bool:
    parts = [part for part in ("vKp2m", "Xq7v") if part in secret]
    return any(part.lower() in said.lower() for part in parts)


def test_a_password_in_place_of_its_files_name_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNSPAN_STORE_PASSWORD_FILE", "hunter2")
    with pytest.raises(StoreError, match="cannot be read") as failure:
        parse("http://u@host/db")
    assert "hunter" not in str(failure.value)
