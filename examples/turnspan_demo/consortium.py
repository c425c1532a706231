"""Two consortium runs, played live: three models answer a question, and an arbiter decides.

Where the package ``llm`` is installed with its plugin ``llm-consortium``, they are made by its own
command, in a home folder of the demonstration's; else by threads around the OpenAI SDK and
``turnspan.consortium``. A local model server answers either way, so no key is needed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import turnspan
from turnspan.testing import ModelRequest, ModelServer

NAME: Final = "jury"
MEMBERS: Final = ("gpt-4.1-mini", "claude-haiku-4-5", "gpt-4o")
ARBITER: Final = "gpt-5"
QUESTIONS: Final[tuple[str, ...]] = (
    "Where should the records of an LLM agent be kept?",
    "Should an agent's tools be recorded by the agent or by the tools?",
)
_PLAIN: Final = "What does a flight recorder keep?"
_SECONDS: Final = 120

_ANSWERS: Final[Mapping[str, Sequence[tuple[str, ...]]]] = {
    QUESTIONS[0]: (
        (
            "In a column store: records are many, alike, and asked for by time and by model.",
            "In plain files beside the agent, one for each session, until somebody asks for more.",
            "In the tracing backend that is there already; its retention decides how long.",
        ),
        (
            "In a column store, with a spool of files beside the agent for when it is away.",
            "In files first, which nothing can delay, and from there in a column store.",
            "In a column store; the tracing backend shows the newest of the same records.",
        ),
    ),
    QUESTIONS[1]: (
        (
            "By the agent: it knows which tool was asked for, with which arguments, and why.",
            "By the agent. A tool that fails to start has nobody else to tell of it.",
            "By the agent, and the tool may add what only it knows, in a span of its own.",
        ),
    ),
}
_VERDICTS: Final[Mapping[str, Sequence[tuple[str, float, str, str]]]] = {
    QUESTIONS[0]: (
        (
            "In a column store.",
            0.55,
            "Two of three ask for one; none says what happens while it cannot be reached.",
            "an outage of the store",
        ),
        (
            "In files beside the agent first, and from there in a column store.",
            0.92,
            "All agree now that the store may be away and that nothing may wait for it.",
            "",
        ),
    ),
    QUESTIONS[1]: (
        (
            "By the agent; the tool may add a span of its own.",
            0.95,
            "All agree, and the third adds the case of a tool with more to tell.",
            "",
        ),
    ),
}


def by_command() -> bool:
    """Whether ``llm`` is here with its plugin, to make the runs."""
    return find_spec("llm") is not None and find_spec("llm_consortium") is not None


def play(say: Callable[[str], None], store: str = "") -> Path | None:
    """Make the runs; returns the database that ``llm`` has written, where it made them.

    Within a recording of this process; by command in ``store``.
    """
    with serving() as url:
        if by_command():
            return _by_command(say, url, store)
        for question in QUESTIONS:
            say(f"asking {len(MEMBERS)} models: {question}")
            say(f"  {by_hand(url, question)}")
    return None


# -- the models


@contextmanager
def serving() -> Generator[str]:
    """The models, at an address on this machine."""
    verdicts: dict[str, int] = dict.fromkeys(QUESTIONS, 0)
    rounds: dict[tuple[str, str], int] = {}

    def answer(request: ModelRequest) -> str:
        asked = " ".join(str(message["content"]) for message in request.messages)
        question = next((one for one in QUESTIONS if one in asked), "")
        if not question:
            return "What happened, in order, so that others can learn from it."
        if request.model == ARBITER:
            verdicts[question] += 1
            return _verdict(question, verdicts[question])
        place = (question, request.model)
        rounds[place] = rounds.get(place, 0) + 1
        answers = _ANSWERS[question]
        return answers[min(rounds[place], len(answers)) - 1][MEMBERS.index(request.model)]

    with ModelServer(default=answer) as server:
        yield server.url


def _verdict(question: str, number: int) -> str:
    known = _VERDICTS[question]
    synthesis, confidence, analysis, areas = known[min(number, len(known)) - 1]
    return (
        f"<synthesis>{synthesis}</synthesis>\n<analysis>{analysis}</analysis>\n<dissent></dissent>\n"
        f"<refinement_areas>\n{areas}\n</refinement_areas>\n"
        f"<needs_iteration>{str(bool(areas)).lower()}</needs_iteration>\n"
        f"<confidence>{confidence}</confidence>"
    )


# -- by the command


def _by_command(say: Callable[[str], None], url: str, store: str) -> Path:
    """By ``llm``, as its users call it: nothing but the environment says that it is recorded."""
    home = Path(tempfile.mkdtemp(prefix="turnspan-demo-llm-"))
    around = {**os.environ, **_surroundings(home, url)}
    around.pop("XDG_CONFIG_HOME", None)
    options = [word for model in MEMBERS for word in ("-m", f"local/{model}")]
    last = ["--arbiter", f"local/{ARBITER}", "--max-iterations", "3"]
    recorded = {**around, "TURNSPAN_STORE": store, "TURNSPAN_LLM": "true"}
    _run(say, recorded, ["-m", f"local/{MEMBERS[0]}", _PLAIN])  # which also makes its log
    _run(say, around, ["consortium", "save", NAME, *options, *last])
    for question in QUESTIONS:
        _run(say, recorded, ["-m", NAME, question])
    return next(home.rglob("logs.db"))


def _surroundings(home: Path, url: str) -> dict[str, str]:
    user = home / ".config" / "io.datasette.llm"
    user.mkdir(parents=True)
    (user / "extra-openai-models.yaml").write_text(
        "\n".join(
            f"- model_id: local/{name}\n  model_name: {name}\n  api_base: {url}/v1"
            for name in (*MEMBERS, ARBITER)
        ),
        "utf-8",
    )
    return {
        "HOME": str(home),
        "APPDATA": str(home / ".config"),
        "LLM_USER_PATH": str(user),
        "OPENAI_API_KEY": "none",
        "TURNSPAN_LLM": "false",
        "OTEL_SERVICE_NAME": "turnspan-demo",
    }


def _run(say: Callable[[str], None], around: Mapping[str, str], arguments: Sequence[str]) -> None:
    words = [f'"{word}"' if " " in word else word for word in arguments]
    say(f"$ llm {' '.join(words)}")
    ran = subprocess.run(
        [sys.executable, "-m", "llm", *arguments],
        env=dict(around),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    shown = ran.stdout.strip().splitlines()
    if ran.returncode:
        raise RuntimeError(f"llm ended with {ran.returncode}: {ran.stderr.strip()[-2_000:]}")
    say(f"  {shown[-1] if shown else ''}")


# -- by hand


def by_hand(url: str, question: str) -> str:
    """Ask the members in threads, and the arbiter, until it is sure; returns what it decided."""
    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")

    def ask(model: str, *said: str) -> str:
        asked: list[Any] = [{"role": "user", "content": text} for text in said]
        reply = client.chat.completions.create(model=model, messages=asked)
        return str(reply.choices[0].message.content)

    with turnspan.consortium(question, name=NAME, strategy="until it is sure") as run:

        def answer(model: str) -> str:
            with run.member(model):
                return ask(model, question)

        while True:
            with ThreadPoolExecutor() as pool:
                answers = list(pool.map(answer, MEMBERS))
            with run.arbiter(model=ARBITER) as arbiter:
                found = _read(ask(ARBITER, question, *answers))
                areas = [area for area in found["refinement_areas"].splitlines() if area]
                arbiter.decided(
                    synthesis=found["synthesis"],
                    confidence=float(found["confidence"]),
                    reasoning=found["analysis"],
                    refinement_areas=areas,
                    needs_iteration=bool(areas),
                )
            if not areas:
                run.final(found["synthesis"])
                return found["synthesis"]


def _read(verdict: str) -> dict[str, str]:
    return {name: text.strip() for name, text in re.findall(r"<(\w+)>(.*?)</\1>", verdict, re.S)}
