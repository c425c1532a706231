"""Write the reference, ``docs/reference/*.md``, from the code.

make reference        (or: python .ci/reference.py)

The meaning of a setting, a column, a stop reason or an environment variable is the docstring below
it; a command's is its own help; a diagnostic's is the head of its file. Types and computed columns
are those of an empty embedded store.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import click

import turnspan
from turnspan import config
from turnspan.metrics import instruments
from turnspan.runtime.stats import REASONS
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.migrations import migrate, migrations
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.cli import turnspan as command_line
from turnspan_console.mcp_server.tools import server_of
from turnspan_records.access.window import window_parameters
from turnspan_records.diagnostics import diagnostics
from turnspan_records.keeping import Policy
from turnspan_records.screens.stop_evidence import RULES
from turnspan_records.turn_filters import KNOWN, LOOKS

sys.path.insert(0, str(Path(__file__).parent))  # also where a test runs this file

import json_schema
import public_interface
import rooms
from sdk_operations import SUMMARY, summary
from sdk_operations import page as sdk_requests

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "reference"
_SOURCES: Final = ("instrument", "exporter", "records", "console", "llm")
_ROWS: Final = (
    *("record", "tables", "judgment_tables", "context_tables", "loop_tables"),
    *("consortium_tables", "dataset_tables", "keeping_tables", "running_call"),
)
_VARIABLE: Final = re.compile(r"TURNSPAN_[A-Z_]+")
_WRITTEN: Final = "<!-- Written by `make reference` from the code: do not change it here. -->"


def pages() -> dict[str, str]:
    """Each page's text by its file's name, but for that of ``sdk_requests``."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(parse(f"chdb://{folder}/store")) as store,
    ):
        migrate(store)
        parts = {
            "settings": _settings(),
            "commands": _commands(),
            "tables": _tables(store),
            "stop-reasons": _stop_reasons(),
            "diagnostics": _diagnostics(store),
            "metrics": _metrics(),
            "filters": _filters(),
            "mcp-tools": _mcp_tools(),
            "public-names": _public_names(),
            "json-output": _json_output(),
            "rooms": _rooms(),
        }
        written = {f"{name}.md": "\n\n".join(part) + "\n" for name, part in parts.items()}
        return written | {"json-output.schema.json": json_schema.written()}


def _json_output() -> Iterator[str]:
    yield _head("JSON output", "After this page you can read what `--format json` prints.")
    yield from json_schema.page()


def _rooms() -> Iterator[str]:
    yield _head(
        "Rooms",
        "After this page you know in which room something is done. A room is a file or folder "
        "directly in a package; it imports only rooms below it in its table.",
    )
    for package, rows in rooms.packages():
        yield f"## {package}"
        yield _table(("room", "what it does", "what is in it"), rows)


def _public_names() -> Iterator[str]:
    yield _head(
        "Public names",
        "After this page you know which names you can build on, and how long they stay.",
    )
    yield from public_interface.page()


def _settings() -> Iterator[str]:
    yield _head(
        "Settings and environment variables",
        "After this page you know every setting: its argument of `turnspan.configure`, its "
        "environment variable, type and default. An argument beats its variable. [Configuration]"
        "(../configuration.md) says how to use them.",
    )
    arguments = inspect.signature(turnspan.configure).parameters
    variables = {option.field: option.variable for option in config.OPTIONS}
    documented, defaults = _attributes(config.__name__, "Settings"), config.Settings()
    rows: list[Sequence[str]] = []
    for name, field in config.Settings.__dataclass_fields__.items():
        argument = f"`{name}`" if name in arguments else ""
        variable = f"`{variables[name]}`" if name in variables else ""
        if argument or variable:
            kind = str(field.type).replace(" | None", "")
            default = f"`{getattr(defaults, name)!r}`"
            rows.append((argument, variable, f"`{kind}`", default, documented[name]))
    yield _table(("argument", "variable", "type", "default", "meaning"), rows)
    yield (
        "The other arguments are in the [Python reference](../api/turnspan.md). A variable takes "
        "`true` or `false` for a truth value."
    )
    yield "## Other environment variables"
    yield _table(("variable", "meaning"), _environment(set(variables.values())))
    yield "## Retention policy"
    policy = Policy(archive=Path("archives"))
    yield f"`turnspan retain --print-policy` prints it:\n\n```toml\n{policy.as_toml()}```"


def _environment(known: set[str]) -> list[tuple[str, str]]:
    """The variables that are no settings: each a constant with its docstring."""
    files = [path for source in _SOURCES for path in (ROOT / source).rglob("*.py")]
    naming = [path for path in files if "TURNSPAN_" in path.read_text("utf-8")]
    found = [pair for path in naming for pair in _constants(path).values()]
    named = sorted(pair for pair in found if _VARIABLE.fullmatch(pair[0]) and pair[0] not in known)
    return [(f"`{name}`", meaning) for name, meaning in named]


def _commands() -> Iterator[str]:
    yield _head(
        "Commands",
        "After this page you know every command and option. `turnspan COMMAND --help` prints the "
        "same. `--store DSN` (every command) names the store instead of `TURNSPAN_STORE`.",
    )
    yield str(command_line.epilog)
    root = click.Context(command_line, info_name="turnspan")
    for context in _walk(root):
        command = context.command
        yield f"## {context.command_path}"
        yield f"`{command.get_usage(context).removeprefix('Usage: ')}`"
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            kept = paragraph.startswith("\b\n")
            body = inspect.cleandoc(paragraph[2:]) if kept else " ".join(paragraph.split())
            yield f"```text\n{body}\n```" if kept else body
        rows = [
            # Two brackets in a row are a link in Markdown.
            (f"`{record[0]}`", re.sub(r"\]\s+\[", r"] \\[", record[1]))
            for option in command.get_params(context)
            if isinstance(option, click.Option)
            and not {"--store", "--help"} & {*option.opts}
            and (record := option.get_help_record(context))
        ]
        if rows:
            yield _table(("option", "meaning"), rows)


def _walk(context: click.Context) -> Iterator[click.Context]:
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None:
                inner = click.Context(command, context, name, max_content_width=10_000)
                inner.terminal_width = 10_000
                yield inner
                yield from _walk(inner)


def _tables(store: Store) -> Iterator[str]:
    yield _head(
        "Tables and columns",
        "After this page you know what every column holds. Times are UTC, durations seconds, ids "
        "hex text as Jaeger shows them, hashes 16 bytes. `NULL` means unknown. [The schema]"
        "(../schema.md) says which table to ask, and how to keep a query cheap.",
    )
    documented: dict[str, dict[str, str]] = {}
    for module in _ROWS:
        for name, tree in _classes(f"turnspan_clickhouse.rows.{module}"):
            documented[name] = _below(tree.body)
    shared: dict[str, str] = {}
    for meanings in documented.values():
        shared = meanings | shared
    for record in sorted(RECORDS, key=lambda one: one.table):
        kinds = [kind.__name__ for kind in reversed(record.__mro__)]
        own = {name: text for kind in kinds for name, text in documented.get(kind, {}).items()}
        rows: list[Sequence[str]] = []
        for column in store.query(f"DESCRIBE TABLE {record.table}").dicts():
            name, computed = str(column["name"]), str(column["default_expression"])
            is_computed = column["default_type"] in ("MATERIALIZED", "ALIAS")
            fence = "````" if "`" in computed else "`"  # `_plain` makes it half as long
            shown = f"{fence}{computed}{fence}"
            meaning = shown if is_computed else own.get(name) or shared[name]
            rows.append((f"`{name}`", f"`{column['type']}`", meaning))
        yield f"## {record.table}"
        yield _plain(inspect.getdoc(record) or "")
        yield _table(("column", "type", "meaning"), rows)
    yield "## Views"
    yield "What each view is for is in [the schema](../schema.md#which-table)."
    views = [one.name for one in migrations() if one.view and not one.name.endswith("_content")]
    for view in sorted(views):
        columns = store.query(f"DESCRIBE TABLE {view}").dicts()
        yield f"### {view}"
        yield _table(("column", "type"), [(f"`{c['name']}`", f"`{c['type']}`") for c in columns])


def _stop_reasons() -> Iterator[str]:
    yield _head(
        "Stop reasons",
        "After this page you know what each value of `turn_summary.stop_reason` means. The first "
        "rule that holds decides; `turnspan why TURN` shows it with its evidence. [Turns]"
        "(../turns.md) explains the loop detector, and when a tool has failed.",
    )
    path = ROOT / "instrument" / "turnspan" / "turn" / "stop_reasons.py"
    meanings = dict(_constants(path).values())
    rows = [
        (
            str(number),
            f"`{reason}`" if reason else "your own",
            meanings.get(reason) or f"{rule[0].upper()}{rule[1:]}.",
        )
        for reason, (number, rule) in RULES.items()
    ]
    yield _table(("rule", "stop reason", "meaning"), rows)


def _diagnostics(store: Store) -> Iterator[str]:
    yield _head(
        "Diagnostics",
        "After this page you know which question each diagnostic answers, and in which columns. "
        "`turnspan diagnose NAME` runs one, `turnspan diagnose NAME --sql` prints its SQL.",
    )
    yield (
        "`*_seconds` are seconds, `*_usd` US dollars, `*_share` and `*_rate` fractions of one, "
        "`*time` times in UTC. `session`, `turn`, `span` and `last_*` are ids for `turnspan show`."
    )
    for one in diagnostics().values():
        described = store.query(f"DESCRIBE ({one.sql})", window_parameters("", None, limit=1))
        yield f"## {one.name}"
        yield f"{one.question} {one.remedy}"
        yield "Columns: " + ", ".join(f"`{column['name']}`" for column in described.dicts()) + "."


def _metrics() -> Iterator[str]:
    yield _head(
        "Metrics and losses",
        "After this page you know what each metric measures, and what each reason for a loss "
        "means. [Reliability](../reliability.md#where-to-look) says where losses are counted.",
    )
    yield _table(
        ("metric", "kind", "unit", "meaning"),
        [
            (
                f"`{one.name}`",
                "histogram" if one.buckets else "counter",
                f"`{one.unit}`",
                one.description,
            )
            for one in (*instruments.METRICS, *instruments.OBSERVED)
        ],
    )
    yield "The counters of `usage` are split by `gen_ai.token.modality`."
    yield "## Why records are dropped"
    yield _table(
        ("reason", "what is lost"), [(f"`{name}`", text) for name, text in REASONS.items()]
    )


def _filters() -> Iterator[str]:
    yield _head(
        "Filters of turns",
        "After this page you can write a filter for `turnspan turns --filter` and the page's "
        "list of turns, such as `stop:tool_failure,loop_detected -agent:wiki cost>0.01`.",
    )
    yield (
        "Terms are ANDed, comma-separated values are ORed, `-` negates. Quote a value with a blank "
        'or comma: `agent:"my agent"`. Numbers take `:`, `>`, `>=`, `<` and `<=`. An unknown cost '
        "or token count matches no comparison."
    )
    yield _table(("filter", "matches"), [(f"`{name}`", text) for name, text in KNOWN.items()])
    yield "## look"
    yield _table(
        ("value", "turns that"), [(f"`{name}`", text) for name, (text, _) in LOOKS.items()]
    )


def _mcp_tools() -> Iterator[str]:
    yield _head(
        "MCP tools",
        "After this page you know which tools a coding agent has, and their arguments. [For coding "
        "agents](../mcp.md) says how to connect one. `judge` needs `--allow-judgments`.",
    )
    server = server_of(cast("Any", None), judgments=True, author="mcp")
    for tool in asyncio.run(server.list_tools()):
        yield f"## {tool.name}"
        yield _plain(tool.description or "")
        arguments = tool.input_schema.get("properties", {})
        rows = [(f"`{name}`", one.get("description", "")) for name, one in arguments.items()]
        yield _table(("argument", "meaning"), rows)


def _head(title: str, text: str) -> str:
    return f"# {title}\n\n{_WRITTEN}\n\n{text}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [tuple(head), tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in line) + " |"
        for line in lines
    )


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def _classes(module: str) -> Iterator[tuple[str, ast.ClassDef]]:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    for node in ast.parse(Path(spec.origin).read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, node


def _attributes(module: str, kind: str) -> dict[str, str]:
    return _below(dict(_classes(module))[kind].body)


def _below(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The docstring below each name that a body assigns."""
    return {name: text for name, _, text in _documented(body)}


def _constants(path: Path) -> dict[str, tuple[str, str]]:
    """(value, docstring) of a module's documented texts, by name."""
    found = _documented(ast.parse(path.read_text("utf-8")).body)
    return {
        name: (value.value, text)
        for name, value, text in found
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _documented(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr | None, str]]:
    for node, below in pairwise(body):
        names = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        text = below.value if isinstance(below, ast.Expr) else None
        if isinstance(names[0], ast.Name) and isinstance(text, ast.Constant):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            yield names[0].id, value, _plain(str(text.value))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    public_interface.write()
    for name, text in {**pages(), "sdk-requests.md": sdk_requests()}.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    SUMMARY.write_text(summary(), encoding="utf-8")
