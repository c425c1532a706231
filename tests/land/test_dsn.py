"""Stores' addresses: strange names and passwords, and what is said of those that are misspelt."""

from __future__ import annotations

import pytest

from turnspan_clickhouse.dsn import parse
from turnspan_clickhouse.errors import StoreError

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
