"""A program that runs again is answered out of its recording, by whichever SDK it asks."""

from __future__ import annotations

import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest

from support.reruns import ORIGIN, Weather, recorded, rerunning
from turnspan.testing import ModelServer, ToolRequest
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.rerun.recording import (
    RecordingError,
    load_recording,
    read_recording,
    write_recording,
)


def _play(server: ModelServer, agent: Weather, api: str) -> None:
    asked = [ToolRequest("weather", {"city": "Oslo"}), ToolRequest("weather", {"city": "Rome"})]
    server.reply("Let me see…", tool_requests=asked)
    server.reply("It rains. Ñandú! " * 9)
    getattr(agent, api)(server.url, {})


ON_EITHER = pytest.mark.parametrize("module_store", ["embedded", "server"], indirect=True)
EMBEDDED = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)


@ON_EITHER
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_rerun_sends_the_same_and_gets_the_same(
    module_store: Store, api: str, tmp_path: Path
) -> None:
    """Whole and streamed: the history at the end is equal, byte by byte, also when the recording
    came out of a file; another machine has no store."""
    for stream in (False, True):
        before, session = Weather(stream=stream), f"{api}-{stream}"
        recording = recorded(module_store, session, partial(_play, agent=before, api=api))
        path = tmp_path / f"{session}.jsonl.zst"
        assert write_recording(recording, path) == path.stat().st_size
        assert read_recording(path) == recording
        after = Weather(stream=stream)
        with rerunning(read_recording(path)) as (url, headers, server):
            getattr(after, api)(url, headers)
            report = server.report()
        assert after.history == before.history
        assert (report.answered, report.unasked, report.divergences) == (2, (), ())


_EDITS: dict[str, tuple[dict[str, Any], str]] = {
    "system": ({"system": "You help.\nYou are long."}, "the system prompt, line 2"),
    "question": ({"question": "Rome?"}, "message {user}, the user's, line 1"),
    "model": ({"model": "gpt-5"}, "the model: gpt-4o -> gpt-5"),
    "result": ({"answers": {"sky": "sun"}}, "message {result}, the result of tool weather, line 1"),
    "tools": ({"tools": ("weather", "search")}, "the tool list: `search` is new"),
    "parameter": ({"others": {"temperature": 0.7}}, "the parameter temperature: not set -> 0.7"),
}


@EMBEDDED
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_the_first_divergence_is_named(module_store: Store, api: str) -> None:
    """Which call, which part of it, and how it reads now; the program's SDK raises."""
    agent = Weather()
    recording = recorded(module_store, f"edit-{api}", lambda s: _play(s, agent, api))
    places = {"chat": {"user": 2, "result": 4}, "messages": {"user": 1, "result": 3}}[api]
    for edit, where in _EDITS.values():
        with rerunning(recording) as (url, headers, server):
            with pytest.raises(Exception, match="The rerun diverged at call"):
                getattr(Weather(**edit), api)(url, headers)
            found = server.report().divergences[0]
        assert found.where == where.format(**places)
        assert found.number == 1 + ("result" in where)
    with rerunning(recording) as (url, headers, server):
        getattr(Weather(), api)(url, headers)
        with pytest.raises(Exception, match="a second time, and was recorded once"):
            getattr(Weather(), api)(url, headers)


@EMBEDDED
def test_who_does_not_know_the_secret_gets_nothing(module_store: Store) -> None:
    """Neither a reply nor a tool's result; and a request that asks no model is not recorded."""
    agent = Weather()
    recording = recorded(module_store, "secret", lambda s: _play(s, agent, "chat"))
    with rerunning(recording) as (url, headers, server):
        for path in ("/chat/completions", "/turnspan/tool"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(url + path, b"{}"), timeout=9)
        with pytest.raises(openai.ConflictError, match="is not recorded"):
            openai.OpenAI(base_url=url, api_key="k", default_headers=headers).models.list()
        assert server.report().divergences[0].where == f"GET {ORIGIN}/models is not recorded"


@EMBEDDED
def test_no_recording_is_refused(module_store: Store, tmp_path: Path) -> None:
    """A session without calls, and files that are something else or damaged."""
    with pytest.raises(RecordingError, match="has no model call"):
        load_recording(module_store, "p", "nothing")
    path = tmp_path / "file"
    for data in (b"", b"{}\n", b"hello", b'{"turnspan_recording": 1}', b"\x28\xb5\x2f\xfdx"):
        path.write_bytes(data)
        with pytest.raises(RecordingError, match=r"[Ee]xport (the )?session"):
            read_recording(path)
    path.write_bytes(b'{"turnspan_recording": 9}')
    with pytest.raises(RecordingError, match="newer Turnspan"):
        read_recording(path)
