"""The items of OpenAI's Responses by which the model asks the application to do something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict

ASKED: Final[Mapping[str, str]] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""Their types, and the field that says what is asked."""

ANSWERED: Final[Mapping[str, tuple[str, str]]] = {
    "function_call_output": ("call_id", "output"),
    "custom_tool_call_output": ("call_id", "output"),
    "computer_call_output": ("call_id", "output"),
    "local_shell_call_output": ("id", "output"),
    "shell_call_output": ("call_id", "output"),
    "apply_patch_call_output": ("call_id", "output"),
}
"""What the application sends back: the field that names the call, and the one with the result."""

_HOSTED: Final = "container"


def asked_key(item: Mapping[str, Any]) -> str:
    """The field in which an item asks the application for a tool; empty for all other items."""
    kind = item.get("type")
    key = ASKED.get(kind) if isinstance(kind, str) else None
    if key is None or "call_id" not in item:
        return ""
    if key == "action" and "action" not in item and "actions" in item:
        key = "actions"  # a computer's, several at once
    if key not in item:
        return ""
    return "" if kind == "shell_call" and _is_hosted(item.get("environment")) else key


def tool_name(item: Mapping[str, Any]) -> str:
    """The name of the tool that an item asks for, by its type where it has none."""
    return str(item.get("name") or str(item["type"]).removesuffix("_call"))


def has_failed(item: Mapping[str, Any]) -> bool:
    """Whether a result says that the tool failed: a patch by its status, a shell by an exit code or
    for want of one."""
    kind = item.get("type")
    if kind == "apply_patch_call_output":
        return item.get("status") == "failed"
    output = item.get("output")
    if kind != "shell_call_output" or not isinstance(output, list):
        return False
    pieces: list[Any] = output  # pyright: ignore[reportUnknownVariableType]
    for piece in pieces:
        outcome = piece.get("outcome") if is_dict(piece) else None
        if is_dict(outcome) and (outcome.get("type") == "timeout" or outcome.get("exit_code")):
            return True
    return False


def _is_hosted(environment: Any) -> bool:
    kind = environment.get("type") if is_dict(environment) else getattr(environment, "type", "")
    return str(kind).startswith(_HOSTED)
