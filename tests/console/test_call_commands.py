"""What changed between two calls, and a call as a command and a program that send it again."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

import pytest

from support.kept_stores import migrated
from support.landing import insert
from support.rows import call, message, said
from support.shop_session import hashes, session
from support.story import Invoke
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.usefixtures("kept_engine")

ONE, OTHER = "aaaaaaaa00000001", "aaaaaaaa00000002"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store with two calls of one conversation, and a session."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("calls") / "store")
    hello, other = (
        message("user", said("Hello there you \x1b[2J")),
        message("user", said("Hello there you all")),
    )
    with migrated(dsn) as opened:
        parameters = '{"model":"gpt-4o","temperature":%s}'
        calls = [
            call("bare", 49),
            call(ONE, 50, input_messages=hashes(hello), request_parameters=parameters % 0),
            call(OTHER, 51, input_messages=hashes(other), request_parameters=parameters % 1),
        ]
        insert(opened, hello, other, *calls, *session())
    yield str(dsn)


def test_diff_says_what_changed(invoke: Invoke, store: str) -> None:
    shown = invoke("--store", store, "diff", ONE, OTHER)
    assert shown.exit_code == 0, shown.stderr
    assert "temperature: 0 -> 1" in shown.stdout
    assert "edited in place" in shown.stdout and "+ Hello there you all" in shown.stdout
    assert "\x1b" not in shown.stdout and "Message 1 is the first that changed" in shown.stdout
    told = json.loads(invoke("--store", store, "diff", ONE, OTHER, "--format", "json").stdout)
    assert [one["kind"] for one in told["messages"]] == ["edited"]
    assert "1 message the same" in invoke("--store", store, "diff", ONE, ONE).stdout


def test_diff_needs_two_calls(invoke: Invoke, store: str) -> None:
    shown = invoke("--store", store, "diff", ONE, "s1")
    assert shown.exit_code == 2 and "diff needs two model calls" in shown.stderr


def test_a_call_as_a_command_and_as_a_program(invoke: Invoke, store: str) -> None:
    curl = invoke("--store", store, "show", ONE, "--curl").stdout
    assert curl.startswith("curl https://api.openai.com/v1/chat/completions \\\n")
    assert "$OPENAI_API_KEY" in curl and "\\u001b[2J" in curl
    python = invoke("--store", store, "show", ONE, "--python").stdout
    assert ast.parse(python) and "\x1b" not in python and "\\x1b[2J" in python
    both = invoke("--store", store, "show", ONE, "--python", "--curl")
    assert both.exit_code == 2 and "exclude each other" in both.stderr
    none = invoke("--store", store, "show", "s1", "--curl")
    assert none.exit_code == 2 and "needs a model call" in none.stderr
    bare = invoke("--store", store, "show", "bare", "--python")
    assert bare.exit_code == 1 and "capture_content=True" in bare.stderr
