"""What answers a tool in place of its function: a rerun, with the recorded result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from turnspan.runtime.type_guards import kind_of

if TYPE_CHECKING:
    from turnspan.tracing.tool_recording import OpenTool

_TELLING: Final = frozenset({dict, int, float, bool, type(None)})
"""Types whose JSON is read as the same type."""
_CONSTANTS: Final = frozenset({"", "true", "false", "null"})


class ToolAnswers(Protocol):
    """A rerun, as tools ask it."""

    def stand_in(self, tool: OpenTool, function: Any) -> Any:
        """A function of ``function``'s kind that gives the recorded result, or raises the recorded
        error; ``None`` if ``function`` is to run."""

    def result(self, wrapped: Any, gives: Any) -> Any:
        """``wrapped``, the function of an SDK that executes the current tool, or what gives the
        recorded result in its place, as a value of the type ``gives``."""

    def runs(self, tool: OpenTool, reason: str) -> None:
        """A tool runs for real whatever was recorded."""


answers: ToolAnswers | None = None
"""The rerun under way; ``None`` without one."""


def class_of(result: Any) -> str:
    """The class of a tool's result, as ``module.Class``, where its recorded text would be read as
    another: texts that are JSON themselves (``str``), and what JSON has no form for. Else empty."""
    kind = kind_of(result)
    if kind is str:
        return "str" if _reads_as_json(result) else ""
    if kind in _TELLING:
        return ""
    if kind is list:
        inner = next((name for name in map(_class_name, result) if name), "")
        return f"list[{inner}]" if inner else ""
    return _class_name(result)


def _class_name(value: Any) -> str:
    kind = kind_of(value)
    if kind in _TELLING or kind is str or kind is list:
        return ""
    return f"{kind.__module__}.{kind.__qualname__}"


def _reads_as_json(text: str) -> bool:
    start = text.lstrip()[:1]
    if start in ("{", "[", '"') or text in _CONSTANTS:
        return True
    if start != "-" and not start.isdigit():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
