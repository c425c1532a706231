"""The conversation that a framework says a call belongs to, where the application names none.

Read on the calling thread when a call begins: the framework's own spans end, and are read, only
after the call's. Each place costs a look-up or two, and none of the packages is imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final, cast

from opentelemetry.context import Context
from opentelemetry.trace import get_current_span

from turnspan import semconv

_NAMES: Final = ("thread_id", "session_id", "conversation_id")
_LANGCHAIN: Final = "langchain_core.runnables.config"


def session_of(context: Context) -> str:
    """The id of the conversation around, as text; empty where nobody says one.

    In this order: the span around (``gen_ai.conversation.id``, ``session.id``), OpenInference's
    ``using_session``, Traceloop's association properties, LangChain's and LangGraph's run.
    """
    return (
        session_on_span(context)
        or _text(context.get(semconv.SESSION_ID))
        or _named(context.get("association_properties"))
        or _of_langchain()
    )


def session_on_span(context: Context) -> str:
    """The conversation that the context's span says it belongs to."""
    said: Any = getattr(get_current_span(context), "attributes", None)
    if not said:
        return ""
    return _text(said.get(semconv.CONVERSATION_ID)) or _text(said.get(semconv.SESSION_ID))


def _of_langchain() -> str:
    module = sys.modules.get(_LANGCHAIN)
    if module is None:
        return ""
    running: Any = getattr(module, "var_child_runnable_config", None)
    config: Any = running.get() if running is not None else None
    if not isinstance(config, Mapping):
        return ""
    fields = cast("Mapping[str, Any]", config)
    return _named(fields.get("configurable")) or _named(fields.get("metadata"))


def _named(given: Any) -> str:
    if not isinstance(given, Mapping):
        return ""
    fields = cast("Mapping[str, Any]", given)
    for name in _NAMES:
        found = _text(fields.get(name))
        if found:
            return found
    return ""


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
