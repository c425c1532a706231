"""Tools whose transcripts are lists of messages with roles (``role_reader``).

Learned from the fixtures of jazzyalex/agent-sessions (``Resources/Fixtures/stage0/agents``: Cursor,
Droid 0.81, Grok CLI, Hermes, Antigravity CLI, Kimi Code with protocol 1.4),
teck968/goose-session-analysis (Goose before 1.10) and real trajectories of SWE-agent,
mini-swe-agent and OpenHands 0.2x.

Counting: Cursor, Droid, Goose, Grok, Hermes and Antigravity say of no call what it used.
mini-swe-agent has the provider's answer in ``extra.response``; OpenHands has it in each action that
came of it: once by its id. SWE-agent has sums of the run, which are the session's attributes. Of
Kimi Code ``step.end`` has a call's usage, and ``usage.record`` of the scope ``turn`` again; that of
the scope ``session`` is the call that wrote a compaction's summary. ``inputOther`` excludes the
cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_list
from turnspan.turn.turn import TokenUsage
from turnspan_records.coding.transcripts.content_parts import call_part, parts_of, reasoning_part
from turnspan_records.coding.transcripts.events import (
    AgentCall,
    HistoryCompaction,
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)
from turnspan_records.coding.transcripts.reader import CodingTool, Fields, items_in
from turnspan_records.coding.transcripts.role_reader import (
    Message,
    MessageOf,
    RoleReader,
    chat,
    chat_calls,
    chat_usage,
    query,
    start_of,
)
from turnspan_records.coding.transcripts.wire_values import (
    count_of,
    document_in,
    object_in,
    objects_in,
    other_fields,
    own_note,
    result_of,
    text_in,
    time_of,
    unknown,
    usage_of,
)

_KIMIS_NOTES: Final = (
    *("llm", "permission", "plugin", "plan_mode", "runtime", "token_counting", "tools"),
)
"""The first words of types that say something of the tool."""
_MORE_NOTES: Final = ("full_compaction.begin", "full_compaction.complete", "turn.ended")


def _cursor(value: Fields, reader: RoleReader) -> Message:
    said = {**object_in(value, "message"), "role": value.get("role")}
    attributes = other_fields(value, ("role", "message", "model"))
    message = chat(said, model=text_in(value, "model"), attributes=attributes)
    if message is None and value.get("type") == "turn_ended":
        return own_note("turn_ended")
    return message or unknown(value.get("type"))


def _droid(value: Fields, reader: RoleReader) -> Message:
    kind = text_in(value, "type")
    if kind == "session_start":
        id_ = text_in(value, "id") or reader.start.session_id
        title = text_in(value, "sessionTitle") or text_in(value, "title")
        version, folder = text_in(value, "version"), text_in(value, "cwd")
        return SessionStart(id_, version, folder, title=title)
    said = object_in(value, "message") if kind == "message" else {}
    message = chat(said, text_in(value, "id"), value.get("timestamp"))
    return message or unknown(value.get("type"))


def _goose(value: Fields, reader: RoleReader) -> Message:
    message = chat(value, text_in(value, "id"), value.get("created"))
    return message or SessionStart(
        reader.start.session_id,
        folder=text_in(value, "working_dir"),
        title=text_in(value, "description"),
        attributes=other_fields(value, ("working_dir", "description")),
    )


def _hermes(value: Fields, reader: RoleReader) -> Message:
    if "role" not in value:
        known = ("session_id", "cwd", "system_prompt", "message_count", "last_updated")
        return SessionStart(
            text_in(value, "session_id") or reader.start.session_id,
            folder=text_in(value, "cwd") or text_in(object_in(value, "model_config"), "cwd"),
            instructions=text_in(value, "system_prompt"),
            attributes=other_fields(value, known),
        )
    finish = text_in(value, "finish_reason")
    reasons = (finish,) if finish else ()
    message = chat(value, failed=finish == "error", finish_reasons=reasons)
    known = value["role"] == "session_meta"
    return message or (own_note("session_meta") if known else unknown("role"))


def _grok(value: Fields, reader: RoleReader) -> Message:
    kind = text_in(value, "type")
    if kind == "reasoning":
        text = "\n".join(text_in(each, "text") for each in objects_in(value, "summary"))
        return reasoning_part(text) if text else unknown("nothing said")
    if kind == "backend_tool_call":
        return own_note(kind)
    said = {**value, "role": "tool" if kind == "tool_result" else kind}
    message = chat(said, model=text_in(value, "model_id"), provider="x_ai")
    if "synthetic_reason" in value and isinstance(message, UserMessage):
        message.injected = True
    return message or unknown(value.get("type"))


def _swe_agent(value: Fields, reader: RoleReader) -> Message:
    if "role" not in value:
        info = object_in(value, "info")
        run: Fields = {"session_usage": object_in(info, "model_stats")}
        run["exit_status"] = text_in(info, "exit_status")
        run["environment"] = text_in(value, "environment")
        return SessionStart(reader.start.session_id, attributes=run)
    message = chat(value)
    if message is not None and value.get("is_demo") is True:
        return UserMessage("", 0, parts_of(value.get("content")), injected=True)
    return message or unknown("role")


def _mini_swe_agent(value: Fields, reader: RoleReader) -> Message:
    if "role" not in value:
        info = object_in(value, "info")
        version = text_in(info, "mini_version")
        attributes = other_fields(info, ("submission", "config", "mini_version"))
        return SessionStart(reader.start.session_id, version, attributes=attributes)
    answer = object_in(object_in(value, "extra"), "response")
    model, usage = text_in(answer, "model"), chat_usage(answer)
    return chat(value, text_in(answer, "id"), model=model, usage=usage) or unknown("role")


def _openhands(value: Fields, reader: RoleReader) -> Message:
    action, observation = text_in(value, "action"), text_in(value, "observation")
    time, source = time_of(value.get("timestamp")), text_in(value, "source")
    metadata, arguments = object_in(value, "tool_call_metadata"), object_in(value, "args")
    call_id = text_in(metadata, "tool_call_id")
    if observation:
        if not call_id:
            return own_note(observation)
        failed = value.get("success") is False or observation == "error"
        return ToolEnd(call_id, "", time, result_of(value.get("content")), failed=failed)
    if source == "user" and action == "message":
        return UserMessage("", time, parts_of(arguments.get("content")))
    answer = object_in(metadata, "model_response")
    choice = next(iter(objects_in(answer, "choices")), Fields())
    said = {"role": "assistant", "content": arguments.get("content")}
    message = chat({**said, **object_in(choice, "message")}, text_in(answer, "id"))
    spoke = bool(answer) or action == "message"
    if source != "agent" or not isinstance(message, AgentCall) or not spoke:
        return own_note(action) if action else unknown("no action")
    message.time, message.model = time, text_in(answer, "model")
    message.usage = chat_usage(answer)
    finish = text_in(choice, "finish_reason")
    message.finish_reasons = (finish,) if finish else ()
    if action == "finish":  # the run is over: no result comes
        message.parts = [part for part in message.parts if part.get("name") != "finish"]
    return message


def _antigravity(value: Fields, reader: RoleReader) -> Message:
    kind, source = text_in(value, "type"), text_in(value, "source")
    time, content = time_of(value.get("created_at")), value.get("content")
    if kind == "USER_INPUT":
        return UserMessage("", time, parts_of(query(content)))
    if kind == "PLANNER_RESPONSE":
        thinking = text_in(value, "thinking")
        parts = [reasoning_part(thinking)] if thinking else []
        parts += parts_of(content) + chat_calls(value)
        return AgentCall("", time, provider="gcp.gemini", parts=parts)
    if source == "MODEL":
        return ToolEnd("", "", time, result_of(content), attributes={"step": kind})
    if kind == "CHECKPOINT":
        return HistoryCompaction("", time, parts_of(content))
    if source == "SYSTEM" and content is None:
        return own_note(kind)
    return UserMessage("", time, parts_of(content), injected=True)


def _kimi(value: Fields, reader: RoleReader) -> Message:
    """A prompt stands in ``turn.prompt`` and again in ``context.append_message``; a step of its
    loop is one call, in lines from ``step.begin`` to ``step.end``."""
    kind, time = text_in(value, "type"), time_of(value.get("time"))
    if kind in ("metadata", "config.update", "profile.bind"):
        place, start = object_in(value, "environmentDisclosure"), reader.start
        return SessionStart(
            start.session_id,
            folder=text_in(value, "cwd") or text_in(place, "cwd") or start.folder,
            agent_name=start.agent_name,
            agent_id=start.agent_id,
            instructions=text_in(value, "systemPrompt") or start.instructions,
        )
    if kind == "llm.request":
        reader.model, reader.provider = text_in(value, "model"), text_in(value, "provider")
        return own_note("model")
    if kind in ("turn.prompt", "turn.steer"):
        return UserMessage("", time, parts_of(value.get("input")))
    if kind == "context.append_message":
        message = object_in(value, "message")
        if text_in(object_in(message, "origin"), "kind") in ("user", "system_trigger"):
            return "part of a user's message"
        return UserMessage("", time, parts_of(message.get("content")), injected=True)
    if kind == "context.append_loop_event":
        return _step(object_in(value, "event"), time)
    if kind == "usage.record":
        if value.get("usageScope") != "session":
            return "part of a model call"
        id_, model = f"compaction:{value.get('time')}", text_in(value, "model")
        return AgentCall(id_, time, model=model.rpartition("/")[2], usage=_kimis_usage(value))
    if kind == "context.apply_compaction":
        summary = parts_of(value.get("contextSummary") or value.get("summary"))
        return HistoryCompaction("", time, summary, "", count_of(value.get("tokensBefore")))
    if kind == "turn.cancel":
        return Interruption(time, "user")
    known = kind.partition(".")[0] in _KIMIS_NOTES or kind in _MORE_NOTES
    return own_note(kind) if known else unknown(value.get("type"))


def _step(event: Fields, time: int) -> Message:
    kind, id_ = text_in(event, "type"), text_in(event, "stepUuid") or text_in(event, "uuid")
    call_id, finish = text_in(event, "toolCallId"), text_in(event, "finishReason")
    if kind == "tool.result":
        result = object_in(event, "result")
        failed = result.get("isError") is True
        content = result_of(result.get("output", event.get("result")))
        return ToolEnd(call_id, "", time, content, failed=failed)
    call = AgentCall(id_, time)
    if kind == "content.part":
        call.parts = parts_of([event.get("part")])
    elif kind == "tool.call":
        call.parts = [call_part(call_id, text_in(event, "name"), event.get("args", {}))]
    elif kind == "step.end":
        call.usage, call.finish_reasons = _kimis_usage(event), (finish,) if finish else ()
    elif kind != "step.begin":
        return unknown(f"loop event {kind}")
    return call


def _kimis_usage(holder: Fields) -> TokenUsage:
    usage = object_in(holder, "usage")
    read, written = usage.get("inputCacheRead"), usage.get("inputCacheCreation")
    sent = (usage.get("inputOther"), read, written)
    return usage_of(*sent, output=usage.get("output"), read=read, written=written)


# -- whose files are whose ------------------


def _kimis_start(path: Path) -> SessionStart:
    agents = path.parent.parent
    if agents.name != "agents" or path.name != "wire.jsonl":
        return SessionStart(path.stem)
    nested = path.parent.name != "main"
    agent_id, name = (path.parent.name, "subagent") if nested else ("", "")
    return SessionStart(agents.parent.name, agent_id=agent_id, agent_name=name)


def _kimis_mains(paths: Sequence[Path]) -> Mapping[Path, Path]:
    main = {path.parent.parent: path for path in paths if path.parent.name == "main"}
    agents = (path for path in paths if path.parent.parent.name == "agents")
    return {p: main[p.parent.parent] for p in agents if main.get(p.parent.parent, p) != p}


def _groks_start(path: Path) -> SessionStart:
    summary = document_in(path.with_name("summary.json"))
    if summary is None:
        return start_of(path)
    info = object_in(summary, "info")
    urls = [url for url in as_list(summary.get("git_remotes")) or [] if isinstance(url, str)]
    return SessionStart(
        text_in(info, "id") or path.parent.name,
        folder=text_in(info, "cwd"),
        repository=urls[0] if urls else "",
        branch=text_in(summary, "head_branch"),
        commit=text_in(summary, "head_commit"),
        title=text_in(summary, "generated_title"),
        attributes={"model": text_in(summary, "current_model_id"), "provider": "x_ai"},
    )


def _runs_start(path: Path) -> SessionStart:
    """A run's file has the name of its task: its folder tells it from other runs of that."""
    return SessionStart(f"{path.parent.name}/{path.stem}")


def _has(*names: str, **values: str) -> Callable[[Fields], bool]:
    """A file's first value has these fields, and these texts in others."""
    return lambda value: (
        all(name in value for name in names)
        and all(value.get(name) == text for name, text in values.items())
    )


def _is_cursor(value: Fields) -> bool:
    return "role" in value and "content" in object_in(value, "message")


def _is_goose(value: Fields) -> bool:
    return "working_dir" in value or value.keys() in ({"tools"}, {"role", "created", "content"})


def _is_grok(value: Fields) -> bool:
    return value.get("type") == "system" and value.keys() == {"type", "content"}


def _is_openhands(value: Fields) -> bool:
    return "source" in value and ("action" in value or "observation" in value)


def _is_mini(value: Fields) -> bool:
    prompt = value.get("role") == "system" and isinstance(value.get("content"), str)
    return "trajectory_format" in value or prompt


def _in(folder: str, *ends: str) -> Callable[[Path], bool]:
    """Transcripts are the files with one of these ends below a folder of this name."""
    return lambda path: path.name.endswith(ends or (".jsonl",)) and folder in ("", *path.parts)


def _messages(name: str) -> Callable[[Any], Sequence[Any] | None]:
    """The items of a document, which may be a bare list of messages."""
    return lambda value: as_list(value) if isinstance(value, list) else items_in(name)(value)


def _reads(
    message: MessageOf,
    start: Callable[[Path], SessionStart] = start_of,
    *,
    one_prompt: bool = False,
) -> Callable[[Path], RoleReader]:
    return lambda path: RoleReader(path, message, start(path), one_prompt=one_prompt)


_SWE: Final = _reads(_swe_agent, _runs_start, one_prompt=True)
_MINI: Final = _reads(_mini_swe_agent, _runs_start, one_prompt=True)
_DROID: Final = (".factory/sessions", ".factory/projects")
_SESSION: Final = _has("cwd", type="session_start")
_WIRE: Final = _has("protocol_version", type="metadata")
_STEP: Final = _has("step_index", "source", "type")
_CHATS: Final = _messages("messages")

ROLE_TOOLS: Final = (
    CodingTool(
        "cursor", _reads(_cursor), _is_cursor, (".cursor/projects",), _in("agent-transcripts")
    ),
    CodingTool("droid", _reads(_droid), _SESSION, _DROID, _in(".factory")),
    CodingTool("goose", _reads(_goose), _is_goose, (".local/share/goose/sessions",), _in("goose")),
    CodingTool(
        *("grok", _reads(_grok, _groks_start), _is_grok, (".grok/sessions",)),
        is_transcript=_in("", "chat_history.jsonl"),
    ),
    CodingTool(
        *("hermes", _reads(_hermes), _has("session_id", "platform"), (".hermes/sessions",)),
        is_transcript=_in(".hermes", ".json"),
        values=_CHATS,
    ),
    CodingTool(
        *("swe-agent", _SWE, _has("trajectory", "info"), (), _in("", ".traj")),
        values=_messages("history"),
    ),
    CodingTool("mini-swe-agent", _MINI, _is_mini, (), _in("", ".traj.json"), values=_CHATS),
    CodingTool(
        *("openhands", _reads(_openhands), _is_openhands, (), _in("trajectories", ".json")),
        values=_CHATS,
    ),
    CodingTool(
        *("antigravity", _reads(_antigravity), _STEP, (".gemini/antigravity-cli/brain",)),
        is_transcript=_in("antigravity-cli"),
    ),
    CodingTool(
        *("kimi", _reads(_kimi, _kimis_start), _WIRE, (".kimi-code/sessions",)),
        is_transcript=lambda path: path.name == "wire.jsonl",
        mains=_kimis_mains,
    ),
)
