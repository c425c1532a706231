"""The schema of what commands print with ``--format json``, made of the classes that they print.

`make reference` writes it as a page and as a file of JSON Schema. A value is printed as
``turnspan_console.values.plain`` has it: an object has its class's name as ``record``.
"""

from __future__ import annotations

import enum
import inspect
import json
import types
import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, Literal

from turnspan_console.checks.check import Check
from turnspan_console.commands.hooks import HookState
from turnspan_console.commands.init import ProjectSetup
from turnspan_console.output import JSON_VERSION
from turnspan_console.values import id_name
from turnspan_records.again.cases.dataset import DatasetDifference
from turnspan_records.again.cases.experiment_results import ExperimentResults
from turnspan_records.again.cases.experiment_run import ExperimentRun
from turnspan_records.consortium.run_detail import ConsortiumRun
from turnspan_records.contexts import AssembledContext
from turnspan_records.conversation import Conversation
from turnspan_records.loop.comparison import Comparison
from turnspan_records.loop.improvement import ExperimentRecord
from turnspan_records.screens.composition import Composition
from turnspan_records.screens.difference import Difference
from turnspan_records.screens.errors import ErrorShapes, ToolFailures
from turnspan_records.screens.text_search import Search
from turnspan_records.screens.turn_end import TurnEnd

Schema = dict[str, Any]

ANSWERS: Final[dict[str, Any]] = {
    "compare ID ID": Comparison,
    "consortium RUN": ConsortiumRun,
    "context ID": list[AssembledContext] | Composition,
    "dataset diff BEFORE AFTER": DatasetDifference,
    "diff BEFORE AFTER": Difference,
    "doctor": list[Check],
    "errors": ErrorShapes,
    "errors TOOL": ToolFailures,
    "experiment run EXPERIMENT": ExperimentRun,
    "experiment show EXPERIMENT": ExperimentResults,
    "find TEXT": Search,
    "hooks status": list[HookState],
    "init": ProjectSetup,
    "lineage EXPERIMENT": ExperimentRecord,
    "replay SESSION": Conversation,
    "why ID": TurnEnd,
}
"""What each command prints that prints a record."""

_PLAIN: Final[tuple[tuple[type, Schema], ...]] = (
    (bool, {"type": "boolean"}),
    (int, {"type": "integer"}),
    (float, {"type": ["number", "null"]}),  # what is no number is null
    (Decimal, {"type": "number"}),
    (str, {"type": "string"}),
    (bytes, {"type": "string", "pattern": "^([0-9a-f]{2})*$"}),
    (datetime, {"type": "string"}),
    (date, {"type": "string"}),
    (type(None), {"type": "null"}),
)


_LATE: Final = {"Check": Check}
"""Names that a module imports for type checkers only."""


def document() -> Schema:
    """The whole as one document of JSON Schema; ``commands`` names the schema of each."""
    definitions: dict[str, Schema] = {}
    commands = {name: _schema(kind, definitions) for name, kind in ANSWERS.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What turnspan prints with --format json",
        "version": JSON_VERSION,
        "commands": commands,
        "$defs": dict(sorted(definitions.items())),
    }


def page() -> Iterator[str]:
    """The paragraphs of the page."""
    made = document()
    yield (
        f"This is version {JSON_VERSION}; `turnspan status --format json` has it among its "
        "versions. Fields may be added in one version: ignore those that you do not know. A field "
        "that goes, or becomes another type, makes a new version. [The schema]"
        "(json-output.schema.json) is JSON Schema."
    )
    yield (
        "Times are UTC as text, durations seconds, ids and hashes hex, amounts US dollars. An "
        "object's `record` names its type. Lists (`sessions`, `turns`, `consortium`, `diagnose`, "
        "`sql`) are arrays of objects, one a row, called as the columns are."
    )
    yield "## Commands\n\n| command | prints |\n|---|---|\n" + "\n".join(
        f"| `turnspan {name}` | {_said(schema)} |" for name, schema in made["commands"].items()
    )
    for name, schema in made["$defs"].items():
        rows = [
            f"| `{field}` | {_said(kind)} |"
            for field, kind in schema["properties"].items()
            if field != "record"
        ]
        yield f"## {name}\n\n{schema['description']}\n\n| field | type |\n|---|---|\n" + "\n".join(
            rows
        )


def written() -> str:
    """The document as a file: a line a command and a type, so that a change is a line."""
    lines: list[str] = []
    for name, value in document().items():
        said = json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict):
            inside = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()]
            said = "{\n" + ",\n".join(inside) + "\n }"
        lines.append(f" {json.dumps(name)}: {said}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _schema(hint: Any, definitions: dict[str, Schema]) -> Schema:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one, definitions) for one in parts]}
    if origin is typing.Annotated:
        return _schema(parts[0], definitions)
    if origin is Literal:
        return {"enum": list(parts)}
    kind = origin or hint
    if not inspect.isclass(kind):
        return {}
    if is_dataclass(kind):
        return _record(kind, definitions)
    if issubclass(kind, enum.Enum):
        return {"enum": [one.value for one in kind]}
    for plain, schema in _PLAIN:
        if issubclass(kind, plain):
            return dict(schema)
    if issubclass(kind, Mapping):
        return (
            {"type": "object", "additionalProperties": _schema(parts[1], definitions)}
            if parts
            else {"type": "object"}
        )
    if kind is tuple and parts and parts[-1] is not Ellipsis:
        return {"type": "array", "prefixItems": [_schema(one, definitions) for one in parts]}
    if issubclass(kind, Sequence | Set):
        return {"type": "array", "items": _schema(parts[0], definitions) if parts else {}}
    return {}


def _record(kind: type[Any], definitions: dict[str, Schema]) -> Schema:
    name = kind.__name__.removesuffix("Record")
    if name not in definitions:
        definitions[name] = {}  # it may have itself as a part
        hints = typing.get_type_hints(kind, localns=_LATE)
        properties: dict[str, Schema] = {"record": {"const": name}}
        for one in fields(kind):
            hint = hints[one.name]
            properties[id_name(one.name) if hint is str else one.name] = _schema(hint, definitions)
        definitions[name] = {
            "description": " ".join(
                (inspect.getdoc(kind) or "").split("\n\n")[0].replace("``", "`").split()
            ),
            "type": "object",
            "required": list(properties),
            "properties": properties,
        }
    return {"$ref": f"#/$defs/{name}"}


def _said(schema: Schema) -> str:
    """A schema as a person reads it in a table."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = " or ".join(_said(one) for one in schema["anyOf"]).split(" or ")
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    kind = schema.get("type", "any value")
    if "prefixItems" in schema:
        return "array of " + ", ".join(map(_said, schema["prefixItems"]))
    if kind == "array":
        return f"array of {_said(schema['items'])}"
    if kind == "object" and "additionalProperties" in schema:
        return f"object of {_said(schema['additionalProperties'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
