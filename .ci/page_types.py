"""The page's types, written from those of the endpoints: ``console/page/src/types.ts``.

``make web`` writes them, and a test holds that they are these.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from turnspan_console.web.api import endpoints as every_endpoint
from turnspan_console.web.endpoints import WebEndpoint
from turnspan_console.web.openapi import schemas

_HEAD = (
    "// Made by `make web` from the endpoints of console/turnspan_console/web: not to be edited.\n"
)
_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def written(endpoints: Sequence[WebEndpoint[Any, Any]]) -> str:
    """An interface for each type, and ``Endpoints``: what is asked and answered, by name.

    Raises:
        ValueError: two types have one name.
    """
    twice = [name for name in schemas(endpoints) if "." in name]
    if twice:
        raise ValueError(f"Types of one name: {', '.join(twice)}. Give one of them another.")
    asked = {one.query.__name__ for one in endpoints}
    blocks = [
        _interface(name, schema, optional=name in asked)
        for name, schema in sorted(schemas(endpoints).items())
    ]
    lines = [
        f"  {json.dumps(f'{one.method} {one.path}')}: {{ {'; '.join(_names(one))} }};"
        for one in endpoints
    ]
    return "\n".join([_HEAD, *blocks, "export interface Endpoints {", *lines, "}", ""])


def _names(one: WebEndpoint[Any, Any]) -> list[str]:
    fields = ("query", "answer", "details")
    return [f"{field}: {kind.__name__}" for field, kind in zip(fields, one.types, strict=False)]


def _interface(name: str, schema: dict[str, Any], *, optional: bool) -> str:
    if schema.get("type") != "object" or "properties" not in schema:
        return f"export type {name} = {_type(schema)};\n"
    needed = schema.get("required", [])
    lines = [
        # What is answered is always there: a default is only what an endpoint may leave to us.
        f"  {field}{'?' if optional and field not in needed else ''}: {_type(of_field)};"
        for field, of_field in schema["properties"].items()
    ]
    body = "\n".join(lines)
    return (
        f"export interface {name} {{\n{body}\n}}\n"
        if lines
        else f"export type {name} = Record<string, never>;\n"
    )


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        values: Any = schema.get("additionalProperties") or {}
        return f"Record<string, {_type(values)}>"
    return _PLAIN.get(str(kind), "unknown")


def _array(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    item = _type(schema.get("items") or {})
    return f"({item})[]" if " " in item else f"{item}[]"


if __name__ == "__main__":
    sys.stdout.write(written(every_endpoint()))
