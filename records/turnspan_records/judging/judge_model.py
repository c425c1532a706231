"""Judges that can be asked: a model behind an OpenAI-compatible endpoint, or a Python function."""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

import turnspan
from turnspan import config, semconv
from turnspan.runtime.type_guards import is_dict
from turnspan.turn.usage import TokenUsage
from turnspan_clickhouse.pricing.prices import cost_of_call
from turnspan_records.access.named_functions import LoadError, load_function
from turnspan_records.judging.judge_prompt import (
    JudgeError,
    JudgeItem,
    JudgePrompt,
    JudgeVerdict,
    content_hash,
    of_both_orders,
    read_judge,
)
from turnspan_records.quality.http import HttpError, HttpSession

_TRIES: Final = 5
_LONGEST_WAIT: Final = 60.0
_TIMEOUT: Final = 120.0


class JudgeStoppedError(RuntimeError):
    """No more is to be asked; the message says why."""


class ModelJudge:
    """Asks a model; several threads may. Its calls are recorded in the project ``<project>-judge``
    of ``store``, without their texts: those stand in the judged records. It stops where their known
    cost has reached ``max_usd``. Raises ``JudgeError``."""

    def __init__(
        self, prompt: JudgePrompt, *, store: str | None = None, max_usd: float | None = None
    ) -> None:
        self.prompt, self.name, self.version = prompt, prompt.name, prompt.hash
        self.cost_usd = 0.0
        self._store, self._max_usd = store, max_usd
        self._lock = threading.Lock()
        self._recorder: turnspan.Recorder | None = None
        try:
            address = f"{prompt.base_url.rstrip('/')}/chat/completions"
            self._http = HttpSession(address, timeout=_TIMEOUT)
        except ValueError as error:
            raise JudgeError(f"base_url: {error}.") from None
        key = os.environ.get(prompt.api_key_env) if prompt.api_key_env else ""
        if key is None:
            raise JudgeError(f"Set {prompt.api_key_env}, or api_key_env in the judge's file.")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    def close(self) -> None:
        """Write what was recorded of its calls. It can be asked again."""
        with self._lock:
            recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.shutdown()

    def key(self, item: JudgeItem, other: JudgeItem | None = None) -> str:
        """The hash of all that is sent: what has the same is not asked again."""
        return content_hash(self.prompt.base_url, self.prompt.request(item, other))

    def verdict(self, item: JudgeItem, other: JudgeItem | None = None) -> JudgeVerdict:
        """Judge; a pair in both orders. Raises ``JudgeError``, or ``JudgeStoppedError``."""
        one = self.prompt.read(self._ask(item, other))
        if other is None:
            return one
        return of_both_orders(one, self.prompt.read(self._ask(other, item)))

    def _ask(self, item: JudgeItem, other: JudgeItem | None) -> str:
        prompt = self.prompt
        with self._lock:
            if self._max_usd is not None and self.cost_usd >= self._max_usd:
                raise JudgeStoppedError(f"{self.cost_usd:.4g} of {self._max_usd:g} USD are spent")
            if self._recorder is None:
                name = f"{item.project or config.active().project or prompt.name}-judge"
                self._recorder = turnspan.Recorder()
                self._recorder.configure(
                    service_name=name, project=name, store=self._store, capture_content=False,
                    exporters=["turnspan"],
                )  # fmt: skip
            recorder = self._recorder
        with recorder.inference(provider=prompt.provider, model=prompt.model) as call:
            said = self._sent(orjson.dumps(prompt.request(item, other)))
            used: Any = said.get("usage") if is_dict(said.get("usage")) else {}
            tokens = used.get("prompt_tokens"), used.get("completion_tokens")
            model = str(said.get("model") or prompt.model)
            call.response(
                input_tokens=tokens[0], output_tokens=tokens[1], model=model, id=said.get("id")
            )
        names = {semconv.PROVIDER_NAME: prompt.provider, semconv.REQUEST_MODEL: prompt.model}
        names[semconv.RESPONSE_MODEL] = model
        cost = cost_of_call(names, TokenUsage(*tokens), time.time_ns())
        with self._lock:
            self.cost_usd += float(cost or 0)
        if cost is None and self._max_usd is not None:
            raise JudgeStoppedError(f"the price of {model} is not known, so --max-usd cannot hold")
        try:
            return str(said["choices"][0]["message"]["content"] or "")
        except (KeyError, IndexError, TypeError):
            raise JudgeError("an answer without a message") from None

    def _sent(self, body: bytes) -> dict[str, Any]:
        tries = 0
        while True:
            tries += 1
            try:
                said = orjson.loads(self._http.send_json(body, self._headers).body)
                break
            except orjson.JSONDecodeError:
                raise JudgeError("an answer that is no JSON") from None
            except HttpError as error:
                if not error.passing or tries == _TRIES:
                    raise JudgeStoppedError(f"{self.prompt.base_url} {error}") from None
                time.sleep(min(error.retry_after or 2.0 ** (tries - 1), _LONGEST_WAIT))
        if not is_dict(said):
            raise JudgeError("an answer that is no JSON object")
        return said


class FunctionJudge:
    """A function of the user's: of a ``JudgeItem`` to a number, a truth, a label, or a
    ``JudgeVerdict``. Raises ``JudgeError`` where it cannot be loaded."""

    cost_usd = 0.0

    def __init__(self, place: str) -> None:
        try:
            self._function: Callable[[JudgeItem], Any] = load_function(place)
            source = inspect.getsource(self._function)
        except (LoadError, OSError, TypeError) as error:  # the latter: it has no source
            why = str(error).rstrip(".")
            raise JudgeError(f"{place} cannot be loaded ({why}).") from None
        self.name, self.version = place.rpartition(":")[2], content_hash(place, source)[:12]

    def close(self) -> None:
        """Nothing is left to do."""

    def key(self, item: JudgeItem, other: JudgeItem | None = None) -> str:
        """As of a model: the source counts as what is sent."""
        del other
        return content_hash(self.version, asdict(item))

    def verdict(self, item: JudgeItem, other: JudgeItem | None = None) -> JudgeVerdict:
        """Judge. Raises ``JudgeError``."""
        del other
        try:
            made = self._function(item)
        except Exception as error:  # the user's own
            raise JudgeError(f"{type(error).__name__}: {error}") from error
        if isinstance(made, JudgeVerdict):
            return made
        if not isinstance(made, (str, bool, int, float)):
            raise JudgeError(f"a {type(made).__name__}: return a number, a bool or a label")
        return JudgeVerdict(label=made) if isinstance(made, str) else JudgeVerdict(float(made))


Judge: TypeAlias = ModelJudge | FunctionJudge


class JudgeScorer:
    """A judge as a scorer of experiments, which close it. What is equal is asked once."""

    def __init__(self, judge: ModelJudge) -> None:
        self.judge, self.__name__ = judge, judge.name
        self._known: dict[str, JudgeVerdict] = {}

    def __call__(self, case: Any, result: Any) -> float | str:
        """The score, or the label."""
        tools = "\n".join(f"{one.name} {_text(one.arguments)}" for one in result.tools)
        expected = "" if case.expected is None else _text(case.expected)
        item = JudgeItem(_text(case.input), _text(result.output), expected, tools)
        key = self.judge.key(item)
        if key not in self._known:
            self._known[key] = self.judge.verdict(item)
        verdict = self._known[key]
        return verdict.label if verdict.score is None else verdict.score


def judge_scorer(
    file: str | Path, *, model: str = "", base_url: str = ""
) -> Callable[[Any, Any], float | str]:
    """A judge's file as a scorer of experiments: ``(case, result)`` to a score or a label. What is
    equal is asked once a process. Raises ``JudgeError``."""
    prompt = read_judge(Path(file), model=model, base_url=base_url)
    if prompt.pairwise:
        raise JudgeError(f"{file}: a scorer judges one answer; pairwise is of `turnspan judge`.")
    return JudgeScorer(ModelJudge(prompt))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
