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
from turnspan_records.coding.transcripts.reader import CodingTool, items_in
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
    WireFields,
    document_in,
    own_note,
    result_of,
    unknown,
    usage_of,
)

_KIMIS_NOTES: Final = (
    *("llm", "permission", "plugin", "plan_mode", "runtime", "token_counting", "tools"),
)
"""The first words of types that say something of the tool."""
_MORE_NOTES: Final = ("full_compaction.begin", "full_compaction.complete", "turn.ended")


def _cursor(value: WireFields, reader: RoleReader) -> Message:
    said = WireFields({**value.object("message"), "role": value.get("role")})
    attributes = value.others("role", "message", "model")
    message = chat(said, model=value.text("model"), attributes=attributes)
    if message is None and value.get("type") == "turn_ended":
        return own_note("turn_ended")
    return message or unknown(value.get("type"))


def _droid(value: WireFields, reader: RoleReader) -> Message:
    kind = value.text("type")
    if kind == "session_start":
        id_ = value.text("id") or reader.start.session_id
        title = value.text("sessionTitle") or value.text("title")
        version, folder = value.text("version"), value.text("cwd")
        return SessionStart(id_, version, folder, title=title)
    said = value.object("message" if kind == "message" else "")
    message = chat(said, value.text("id"), value.get("timestamp"))
    return message or unknown(value.get("type"))


def _goose(value: WireFields, reader: RoleReader) -> Message:
    message = chat(value, value.text("id"), value.get("created"))
    return message or SessionStart(
        reader.start.session_id,
        folder=value.text("working_dir"),
        title=value.text("description"),
        attributes=value.others("working_dir", "description"),
    )


def _hermes(value: WireFields, reader: RoleReader) -> Message:
    if "role" not in value:
        known = ("session_id", "cwd", "system_prompt", "message_count", "last_updated")
        return SessionStart(
            value.text("session_id") or reader.start.session_id,
            folder=value.text("cwd") or value.object("model_config").text("cwd"),
            instructions=value.text("system_prompt"),
            attributes=value.others(*known),
        )
    finish = value.text("finish_reason")
    reasons = (finish,) if finish else ()
    message = chat(value, failed=finish == "error", finish_reasons=reasons)
    known = value["role"] == "session_meta"
    return message or (own_note("session_meta") if known else unknown("role"))


def _grok(value: WireFields, reader: RoleReader) -> Message:
    kind = value.text("type")
    if kind == "reasoning":
        text = "\n".join(each.text("text") for each in value.objects("summary"))
        return reasoning_part(text) if text else unknown("nothing said")
    if kind == "backend_tool_call":
        return own_note(kind)
    said = WireFields({**value, "role": "tool" if kind == "tool_result" else kind})
    message = chat(said, model=value.text("model_id"), provider="x_ai")
    if "synthetic_reason" in value and isinstance(message, UserMessage):
        message.injected = True
    return message or unknown(value.get("type"))


def _swe_agent(value: WireFields, reader: RoleReader) -> Message:
    if "role" not in value:
        info = value.object("info")
        run: dict[str, Any] = {"session_usage": dict(info.object("model_stats"))}
        run["exit_status"] = info.text("exit_status")
        run["environment"] = value.text("environment")
        return SessionStart(reader.start.session_id, attributes=run)
    message = chat(value)
    if message is not None and value.get("is_demo") is True:
        return UserMessage("", 0, parts_of(value.get("content")), injected=True)
    return message or unknown("role")


def _mini_swe_agent(value: WireFields, reader: RoleReader) -> Message:
    if "role" not in value:
        info = value.object("info")
        version = info.text("mini_version")
        attributes = info.others("submission", "config", "mini_version")
        return SessionStart(reader.start.session_id, version, attributes=attributes)
    answer = value.object("extra").object("response")
    model, usage = answer.text("model"), chat_usage(answer)
    return chat(value, answer.text("id"), model=model, usage=usage) or unknown("role")


def _openhands(value: WireFields, reader: RoleReader) -> Message:
    action, observation = value.text("action"), value.text("observation")
    time, source = value.time("timestamp"), value.text("source")
    metadata, arguments = value.object("tool_call_metadata"), value.object("args")
    call_id = metadata.text("tool_call_id")
    if observation:
        if not call_id:
            return own_note(observation)
        failed = value.get("success") is False or observation == "error"
        return ToolEnd(call_id, "", time, result_of(value.get("content")), failed=failed)
    if source == "user" and action == "message":
        return UserMessage("", time, parts_of(arguments.get("content")))
    answer = metadata.object("model_response")
    choice = next(iter(answer.objects("choices")), WireFields())
    said = WireFields(role="assistant", content=arguments.get("content")) | choice.object("message")
    message = chat(WireFields(said), answer.text("id"))
    spoke = bool(answer) or action == "message"
    if source != "agent" or not isinstance(message, AgentCall) or not spoke:
        return own_note(action) if action else unknown("no action")
    message.time, message.model = time, answer.text("model")
    message.usage = chat_usage(answer)
    finish = choice.text("finish_reason")
    message.finish_reasons = (finish,) if finish else ()
    if action == "finish":  # the run is over: no result comes
        message.parts = [part for part in message.parts if part.get("name") != "finish"]
    return message


def _antigravity(value: WireFields, reader: RoleReader) -> Message:
    kind, source = value.text("type"), value.text("source")
    time, content = value.time("created_at"), value.get("content")
    if kind == "USER_INPUT":
        return UserMessage("", time, parts_of(query(content)))
    if kind == "PLANNER_RESPONSE":
        thinking = value.text("thinking")
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


def _kimi(value: WireFields, reader: RoleReader) -> Message:
    """A prompt stands in ``turn.prompt`` and again in ``context.append_message``; a step of its
    loop is one call, in lines from ``step.begin`` to ``step.end``."""
    kind, time = value.text("type"), value.time("time")
    if kind in ("metadata", "config.update", "profile.bind"):
        place, start = value.object("environmentDisclosure"), reader.start
        return SessionStart(
            start.session_id,
            folder=value.text("cwd") or place.text("cwd") or start.folder,
            agent_name=start.agent_name,
            agent_id=start.agent_id,
            instructions=value.text("systemPrompt") or start.instructions,
        )
    if kind == "llm.request":
        reader.model, reader.provider = value.text("model"), value.text("provider")
        return own_note("model")
    if kind in ("turn.prompt", "turn.steer"):
        return UserMessage("", time, parts_of(value.get("input")))
    if kind == "context.append_message":
        message = value.object("message")
        if message.object("origin").text("kind") in ("user", "system_trigger"):
            return "part of a user's message"
        return UserMessage("", time, parts_of(message.get("content")), injected=True)
    if kind == "context.append_loop_event":
        return _step(value.object("event"), time)
    if kind == "usage.record":
        if value.get("usageScope") != "session":
            return "part of a model call"
        id_, model = f"compaction:{value.get('time')}", value.text("model")
        return AgentCall(id_, time, model=model.rpartition("/")[2], usage=_kimis_usage(value))
    if kind == "context.apply_compaction":
        summary = parts_of(value.get("contextSummary") or value.get("summary"))
        return HistoryCompaction("", time, summary, "", value.count("tokensBefore"))
    if kind == "turn.cancel":
        return Interruption(time, "user")
    known = kind.partition(".")[0] in _KIMIS_NOTES or kind in _MORE_NOTES
    return own_note(kind) if known else unknown(value.get("type"))


def _step(event: WireFields, time: int) -> Message:
    kind, id_ = event.text("type"), event.text("stepUuid") or event.text("uuid")
    call_id, finish = event.text("toolCallId"), event.text("finishReason")
    if kind == "tool.result":
        result = event.object("result")
        failed = result.get("isError") is True
        content = result_of(result.get("output", event.get("result")))
        return ToolEnd(call_id, "", time, content, failed=failed)
    call = AgentCall(id_, time)
    if kind == "content.part":
        call.parts = parts_of([event.get("part")])
    elif kind == "tool.call":
        call.parts = [call_part(call_id, event.text("name"), event.get("args", {}))]
    elif kind == "step.end":
        call.usage, call.finish_reasons = _kimis_usage(event), (finish,) if finish else ()
    elif kind != "step.begin":
        return unknown(f"loop event {kind}")
    return call


def _kimis_usage(holder: WireFields) -> TokenUsage:
    usage = holder.object("usage")
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
    info = summary.object("info")
    urls = [url for url in as_list(summary.get("git_remotes")) or [] if isinstance(url, str)]
    return SessionStart(
        info.text("id") or path.parent.name,
        folder=info.text("cwd"),
        repository=urls[0] if urls else "",
        branch=summary.text("head_branch"),
        commit=summary.text("head_commit"),
        title=summary.text("generated_title"),
        attributes={"model": summary.text("current_model_id"), "provider": "x_ai"},
    )


def _runs_start(path: Path) -> SessionStart:
    """A run's file has the name of its task: its folder tells it from other runs of that."""
    return SessionStart(f"{path.parent.name}/{path.stem}")


def _has(*names: str, **values: str) -> Callable[[WireFields], bool]:
    """A file's first value has these fields, and these texts in others."""
    return lambda value: (
        all(name in value for name in names)
        and all(value.get(name) == text for name, text in values.items())
    )


def _is_cursor(value: WireFields) -> bool:
    return "role" in value and "content" in value.object("message")


def _is_goose(value: WireFields) -> bool:
    return "working_dir" in value or value.keys() in ({"tools"}, {"role", "created", "content"})


def _is_grok(value: WireFields) -> bool:
    return value.get("type") == "system" and value.keys() == {"type", "content"}


def _is_openhands(value: WireFields) -> bool:
    return "source" in value and ("action" in value or "observation" in value)


def _is_mini(value: WireFields) -> bool:
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
