"""Reads runs that people wrote: one JSON file a run, like those in ``runs/``.

A file is an object with ``id``, ``turns`` and, as needed, ``title``, ``agent``, ``user_id``,
``models`` and ``providers``, ``system``, ``tools``, ``max_rounds``, ``stream``, ``cached`` (mark
the system prompt for the provider's cache) and ``nested`` (runs of agents used as tools, by name).

- A turn has ``user``, ``replies`` and maybe ``labels`` (intent, chat_mode, task_type, target),
  ``aborted`` (the user stops it) or ``stop`` and ``stop_detail`` (the application does).
- A reply has ``text``, ``thinking``, ``calls``, ``finish`` (``length``, ``content_filter``),
  ``delay`` in seconds and ``fault`` (``kind``: rate_limit, overloaded, server_error or
  broken_stream; ``times``: how many requests meet it).
- A call has ``tool``, ``arguments`` and one of ``result`` (a text or any JSON value), ``error``
  (the tool fails with this text) and ``run`` (the name of a nested run that answers).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, cast

from turnspan_demo.model import (
    PROVIDERS,
    Fault,
    Reply,
    Run,
    RunError,
    ToolDefinition,
    ToolUse,
    Turn,
    infer_tools,
)

_RUN = frozenset(
    {
        "id", "title", "agent", "user_id", "models", "providers", "system", "tools", "turns",
        "max_rounds", "stream", "cached", "nested", "greeting",
    }
)  # fmt: skip
_TURN = frozenset(["user", "replies", "labels", "aborted", "stop", "stop_detail"])
_REPLY = frozenset(["text", "thinking", "calls", "finish", "delay", "fault"])
_CALL = frozenset(["tool", "arguments", "result", "error", "run"])
_LABELS = frozenset(["intent", "chat_mode", "task_type", "target"])
_FAULT = frozenset(["kind", "times"])
_KINDS = frozenset(["rate_limit", "overloaded", "server_error", "broken_stream"])
_FINISHES = frozenset(["stop", "tool_calls", "length", "content_filter"])


def shipped() -> list[Run]:
    """The runs that come with the package, by name."""
    folder = resources.files("turnspan_demo") / "runs"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return [parse(f.read_text(encoding="utf-8"), f.name) for f in files]


def load(path: Path) -> Run:
    """Read a run's file.

    Raises:
        RunError: it cannot be read, or says something that no run can mean.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"The run {path} cannot be read: {error}.") from None
    return parse(text, str(path))


def parse(text: str, where: str) -> Run:
    """Read a run out of its text; ``where`` names it in errors. Raises RunError."""
    try:
        return _run(json.loads(text), where, "")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        kind = "has no" if isinstance(error, KeyError) else "is not a run:"
        raise RunError(f"The run {where} {kind} {error}.") from None


def _run(data: Any, where: str, outer: str) -> Run:
    _known(data, _RUN, where)
    name = f"{outer}/{where}" if outer else str(data["id"])
    inner: Mapping[str, Any] = data.get("nested", {})
    nested = {key: _run(value, key, name) for key, value in inner.items()}
    turns = tuple(
        _turn(turn, f"{where}, turn {number}", f"{name}-{number}", nested)
        for number, turn in enumerate(data["turns"], 1)
    )
    if not turns:
        raise ValueError("it has no turns")
    tools = tuple(
        ToolDefinition(tool["name"], tool.get("description", ""), tool["parameters"])
        for tool in data.get("tools", [])
    )
    return Run(
        id=name,
        turns=turns,
        agent=data.get("agent", "agent"),
        system=data.get("system", ""),
        tools=tools or infer_tools(turns),
        title=data.get("title", ""),
        user_id=data.get("user_id", ""),
        greeting=data.get("greeting", ""),
        max_rounds=data.get("max_rounds"),
        stream=data.get("stream", False),
        cached=data.get("cached", False),
        models=data.get("models", {}),
        providers=tuple(_one(p, PROVIDERS, where) for p in data.get("providers", PROVIDERS)),
        nested=nested,
    )


def _turn(data: Any, where: str, name: str, nested: Mapping[str, Run]) -> Turn:
    _known(data, _TURN, where)
    labels: dict[str, str] = data.get("labels", {})
    _known(labels, _LABELS, where)
    replies = tuple(
        _reply(reply, f"{where}, reply {number}", f"{name}-{number}", nested)
        for number, reply in enumerate(data["replies"], 1)
    )
    if not replies:
        raise ValueError(f"{where} has no replies")
    if any(reply.lost for reply in replies[:-1]):
        raise ValueError(f"{where}: only a turn's last reply can be lost")
    return Turn(
        user=data["user"],
        replies=replies,
        stop=data.get("stop", ""),
        stop_detail=data.get("stop_detail", ""),
        aborted=data.get("aborted", False),
        labels=labels,
    )


def _reply(data: Any, where: str, name: str, nested: Mapping[str, Run]) -> Reply:
    _known(data, _REPLY, where)
    fault: dict[str, Any] | None = data.get("fault")
    if fault is not None:
        _known(fault, _FAULT, where)
        _one(fault["kind"], _KINDS, where)
    return Reply(
        text=data.get("text", ""),
        tools=tuple(
            _call(call, where, f"{name}-{number}", nested)
            for number, call in enumerate(data.get("calls", []), 1)
        ),
        thinking=data.get("thinking", ""),
        finish=_one(data.get("finish", "stop"), _FINISHES, where),
        delay=float(data.get("delay", 0)),
        fault=Fault(fault["kind"], int(fault.get("times", 1))) if fault else None,
    )


def _call(data: Any, where: str, name: str, nested: Mapping[str, Run]) -> ToolUse:
    _known(data, _CALL, where)
    if len({"result", "error", "run"} & set(data)) != 1:
        raise ValueError(f"{where}: a call needs exactly one of result, error and run")
    run = str(data.get("run", ""))
    result: object = data.get("result", "")
    if run:
        result = nested[run].turns[-1].replies[-1].text
    return ToolUse(
        id="call_" + "".join(c if c.isalnum() else "_" for c in name),
        name=data["tool"],
        arguments=_json(data.get("arguments", {})),
        result=data["error"] if "error" in data else _text(result),
        failed="error" in data,
        run=run,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _known(data: Any, names: frozenset[str], where: str) -> None:
    if not isinstance(data, dict):
        raise TypeError(f"{where} is not an object")
    unknown = sorted(set(cast("dict[str, Any]", data)) - names)
    if unknown:
        raise ValueError(f"{where} has the unknown field {unknown[0]!r}")


def _one(value: Any, known: Iterable[Any], where: str) -> Any:
    if value not in known:
        raise ValueError(f"{where}: {value!r} is not one of {', '.join(sorted(known))}")
    return value
