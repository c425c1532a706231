"""The pages about leaving another tool: what they name is there, and their figures are measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import turnspan
from support.cassettes import RecordedCall, recorded_calls
from support.import_kinds import helicone_row
from support.imported import Imported, import_files, iso, written
from support.shared import REPOSITORY
from turnspan.content.model import as_dict, as_list
from turnspan_records.importing.exports.helicone import Helicone
from turnspan_records.importing.exports.langfuse import Langfuse
from turnspan_records.importing.files.file_log import Format
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

PAGES = REPOSITORY / "docs" / "migration"
TOOLS = ("langfuse", "phoenix", "helicone", "langsmith", "openllmetry")


def page(tool: str) -> str:
    return (PAGES / f"{tool}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_page_says_what_comes_along_and_what_does_not(tool: str) -> None:
    text = page(tool)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == ["What maps to what", "What is lost", "Measured", "From now on"]
    importers = {point.name for point in entry_points(group="turnspan.importers")}
    assert set(re.findall(r"turnspan import ([a-z-]+)", text)) <= importers
    for name in re.findall(r"\bturnspan\.([a-z_]+)\(", text.replace("@turnspan.", "turnspan.")):
        assert name in turnspan.__all__, name
    for name in re.findall(r"@turnspan\.([a-z_]+)", text):
        assert name in turnspan.__all__, name


def measured(tool: str) -> list[int]:
    """The numbers of a page's figures, without those of versions."""
    text = page(tool).partition("## Measured")[2].partition("\n## ")[0]
    return [int(number) for number in re.findall(r"(?<![\w.-])\d+(?![\w.]|$)", text)]


def of(format_: Format, tmp_path: Path, name: str, rows: list[dict[str, Any]]) -> Imported:
    return import_files(format_, [written(tmp_path / f"{name}.jsonl", *rows)])


def answered() -> Iterator[RecordedCall]:
    return (each for each in recorded_calls() if as_dict(each.response) is not None)


@pytest.mark.release
@pytest.mark.large_data
def test_the_figures_of_helicone(tmp_path: Path) -> None:
    calls = list(answered())
    by_api = {
        name: sum(each.dialect == name for each in calls)
        for name in ("openai.chat", "openai.responses", "anthropic.messages")
    }
    rows = [
        helicone_row(
            number,
            request_body=each.request,
            response_body=each.response,
            response_status=each.status,
            provider=each.dialect.split(".")[0].upper(),
        )
        for number, each in enumerate(calls)
    ]
    made = of(Helicone(), tmp_path, "helicone", rows)

    failed = sum(bool(call.error_type) for call in made.calls)
    assert not made.problems
    said = [len(made.calls), *by_api.values(), failed, len(made.calls), 16]
    assert measured("helicone") == said


@pytest.mark.release
@pytest.mark.large_data
def test_the_figures_of_langfuse(tmp_path: Path) -> None:
    observations: list[dict[str, Any]] = []
    lines: dict[str, list[dict[str, Any]]] = {"openai": [], "anthropic": []}
    for each in answered():
        if each.status != 200 or each.dialect == "openai.responses":
            continue
        number, provider = len(observations), each.dialect.split(".")[0]
        choices = as_list(each.response.get("choices"))
        message = {"role": "assistant", "content": each.response.get("content")}
        observations.append(
            {
                "id": f"{number + 1:016x}",
                "traceId": f"{number + 1:032x}",
                "type": "GENERATION",
                "startTime": iso(number),
                "model": each.request.get("model"),
                "input": {
                    key: value
                    for key, value in each.request.items()
                    if key in ("messages", "tools", "system")
                },
                "output": choices[0]["message"] if choices else message,
            }
        )
        lines[provider].append(
            {"request": each.request, "response": each.response, "start_time": iso(number)}
        )
    plain = {
        call.start_time: (made, call)
        for kind, name in ((OPENAI, "openai"), (ANTHROPIC, "anthropic"))
        for made in [of(Transcripts(kind), tmp_path, name, lines[name])]
        for call in made.calls
    }
    made = of(Langfuse(), tmp_path, "langfuse", observations)

    assert not made.problems
    pairs = [(call, *plain[call.start_time]) for call in made.calls]
    asked = sum(
        made.said(call.input_messages) == other.said(known.input_messages)
        for call, other, known in pairs
    )
    said = sum(call.response_text == known.response_text for call, _, known in pairs)
    count = len(made.calls)
    assert measured("langfuse") == [len(observations), count, said, asked, count - asked]
