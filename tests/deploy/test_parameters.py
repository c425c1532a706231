"""Values travel as query parameters, never inside the SQL.

Every string of the shipped code that is put together and looks like SQL is read from its syntax
tree: what is put in may be a module's constant, a quoted identifier, or one of the expressions
below, each of which was looked at. A new one fails here until somebody has looked at it, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.landing import insert
from support.rows import PROJECT, call, turn
from turnspan_clickhouse.ship.interrupted_work import interrupt_turns
from turnspan_clickhouse.store.client import Store
from turnspan_records.diagnostics import diagnostics
from turnspan_records.lookup import find
from turnspan_records.replay import replay
from turnspan_records.sessions import sessions, turns

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for wing in ("exporter", "records", "llm", "console")
    for path in sorted((ROOT / wing).rglob("*.py"))
]
SQL = re.compile(
    r"\b(SELECT|INSERT INTO|CREATE (TABLE|DATABASE|VIEW|USER)|ALTER TABLE|DROP|TRUNCATE|DELETE|"
    r"FROM|WHERE|ORDER BY|GROUP BY|LIMIT|ON CLUSTER)\b"
)
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
LOOKED_AT = {
    # Identifiers that come from the schema files or the DSN; those of the DSN through quoted().
    "migrations.py": {"database", "name", "on_cluster", "distributed['shard_by']", "view", "names"},
    "client.py": {"on_cluster"},
    # Column lists and tables from the record classes.
    "interrupted_work.py": {
        *("table", "pieces", "work.record.table", "work.id"),
        *("', '.join(names)", "', '.join(values)"),
    },
    "follower.py": {"rewritten(TurnSummary, _RESTED)"},
    # Hexadecimal digits: ids of rows, which are hashes, and a session's id, by unhex().
    "families.py": {"tables.everywhere(record)", "condition"},
    "telemetry_join.py": {"record.table", "key", "rewritten(record, new)"},
    "lookup.py": {"kind", "column", "place", "table", "_TESTS[how]"},
    "inventory.py": {"kind", "column", "table", "turns"},
    "comparison.py": {"column"},
    "directives.py": {"table", "column"},
    "lineages.py": {"found.kind"},
    "texts.py": {"field"},
    # Of a session, or of a trace without one; the filter of turns, whose values are parameters.
    "replay.py": {
        *("place.condition", "columns", "fragments", "texts", "texts_so_far"),
        *("given", "{'spans': spans}"),
    },
    "recording.py": {"columns", "texts"},
    "outline.py": {
        *("place.condition", "columns", "previews.CUT", "str(HEAD)", "texts", "given"),
    },
    # An order is one of a list's, its places are parameters.
    "sessions.py": {"columns", "wanted.where", "figures", "older", "parts", "turns"},
    "errors.py": {
        *("older", "order.sql", "order.place", "answers"),
        "statement('errors/_failures', among=_ALL, model_answers=answers)",
        "statement('errors/_failures', among=_NEWEST, model_answers=answers)",
    },
    # Pairs of known names and columns; keys of attributes are parameters.
    "facets.py": {"wanted.where", "turns", "pairs", "'\\nUNION ALL\\n'.join(pieces)"},
    # Words and filters are parameters, of constant conditions.
    "text_search.py": {
        *("statement('fragments/of_project')", "wanted.sql", "fragments", "turns", "scope"),
        *("words('word')", "words('written')"),
    },
    "overview.py": {"wanted.where", "looks", "turns", "every", "pieces"},
    "figures.py": {"wanted.where", "_LOOPS"},
    "case_sources.py": {"turns.where"},
    # Columns of the answer, and the question, as Grafana's rule asks it.
    "alerts.py": {"chosen", "inner"},
    "judge_run.py": {"wanted.where"},
    # One of ORDERS, and one of two constants.
    "queues.py": {"source", "order", "_source(queue)"},
    # The loader of statements passes on the fragments that are looked at where they are given.
    "sql_files.py": {"fragments"},
    "store.py": {"record.table", "table", "names"},
    "workbench.py": {"which"},
    # Training data: conditions of two forms, a table of each list, question marks.
    "scopes.py": {"these.condition", "scope", "listed", "begin", "judged", "table"},
    "lines.py": {"selected(record)", "source", "where", "part", "rows_of"},
    # Of a log of llm's: one of its two tables, constant columns, question marks.
    "responses.py": {
        *("table", "read", "limit", "condition", "which", "_marks(ids)", "_marks(known)"),
    },
    # Names of tables and columns that the log has, in quotes; question marks.
    "source.py": {"name", "names", "marks", "quoted(table)", "quoted(column)", "sql", "where"},
    # Logs of llm's: one of its two tables, a constant column or NULL in its place.
    "stretches.py": {"time", "duration", "said", "table"},
    "rows.py": {"json_"},
    "tables.py": {"', '.join(_RUNS)", "', '.join(_MEMBERS)"},
    "log_writer.py": {"table", "column", "type_"},
    "messages.py": {"payload"},
    "judgments.py": {"', '.join('?' * 11)", "table"},
    "card.py": {"table"},
    "artifacts.py": {"', '.join('?' * 11)", "condition"},
    # The user's own condition, in a statement that the sandbox runs: it reads records only.
    "trajectory_export.py": {"filters.where or '1'", "'span_id, attributes'"},
    "units.py": {"id_", "table", "these.condition", "self._filters.where"},
    # Keeping: names of tables and columns from the schema, keys out of those, numbers, the name of
    # a pass (checked when it is made), and conditions that this package wrote.
    "keys.py": {"table", "condition"},
    "archive_writer.py": {"source", "where", "ids", "work.tables.held(record)"},
    "retention.py": {
        *("work.tables.work", "table", "', '.join(names)"),
        "', '.join((values[name] for name in names))",
        "f'{row_key(TurnSummary)} GLOBAL IN ({work.keys(TurnSummary.table)})'",
    },
    "ttl.py": {"table", "', '.join(rules)"},
    "deletion_plan.py": {
        *("self._names", "fragments", "annotation", "held(kind)", "held(TurnSummary)"),
        *("_time(kind)", "time"),
        "BELONGING[kind.table].time",
    },
    "references.py": {
        *("CONTENT_KEY[to]", "scope", "hashes", "source(record)", "where(record)", "of"),
    },
    "work.py": {
        *("self.tables.work", "names", "where", "self.name", "what", "self.tables.held(record)"),
        *("condition", "Tables(store).work"),
    },
    "contents.py": {
        *("CONTENT_KEY[table]", "condition", "held", "SCOPE", "work.keys(_gone(table))"),
        *("named(table, work.tables.everywhere)", "work.tables.everywhere(CONTENTS[table])"),
        "work.tables.everywhere(record)",
    },
    # Forgetting: the same, hashes of ids as hex, times as integers, kinds of things that it knows.
    "owner_conditions.py": {
        *("work.tables.work", "work.name", "kinds_sql(wanted)", "kinds_sql(wanted, UNIT)"),
        *("table", "where", "mine", "joined", "value", "record.table", "table(record)"),
        *(
            "placed(found, wanted, table, lying)",
            "keys.query(wanted)",
            "self.query(kinds)",
            "moment(until)",
        ),
        *("BELONGING[record.table].time", "', '.join(owners(record, kinds))"),
    },
    "subject_keys.py": {
        *(
            "work.tables.work",
            "work.tables.everywhere(record)",
            "work.tables.everywhere(TurnSummary)",
        ),
        *("keys.query((TURN,))", "keys.only(candidates)", "keys.only(keys.kinds)", "keys"),
        *("found", "hashes", "inner", "ours", "own", "rows", "scope", "source", "sql", "turns"),
        *("_pairs((TURN, 'turn_id'))", "_pairs((TRACE, 'trace_id'))", "moment(keys.until)"),
        *("record.table", "row_key(record)", "row_key(CONTENTS[table])"),
        "work.tables.held(CONTENTS[table])",
        "placed(dict.fromkeys(_MADE_UNDER, made), keys.kinds, work.tables.everywhere)",
        "_hashed(_KIND_OF[table], MESSAGE_ID if table == 'message' else 'lower(hex(hash))')",
        "f\"['{TRIED}', '{ROLLED}'], ['{ATTEMPT}', '{ROLLOUT}']\"",
    },
    "erasure.py": {
        *("Tables(store).everywhere(Tombstone)", "Tables(store).everywhere(record)", "table"),
        *(
            "keys.query(keys.kinds)",
            "tombstone",
            "names",
            "found",
            "str(MOST_WORDS)",
            "id_sql(key)",
        ),
    },
    "freed_parts.py": {"parts", "reset", "table", "where"},
    "proof.py": {"Tables(store).everywhere(record)", "counted", "found"},
    # Home-made tables: names quoted as the database has them, types out of its catalogue, numbers.
    "table_chunks.py": {
        *("self.name", "where", "self._texts(chosen)", "self._texts(self.columns)", "condition"),
        *("self._order()", "rows", "key", "then", "time", "self._beyond('>', self.time)"),
        "self.database.placeholder(self.time)",
        "self.database.quoted(self.time.name)",
    },
    # A command line that is shown, not run.
    "demo.py": {"command"},
}


@cache
def composed(path: Path) -> tuple[ast.expr, ...]:
    """What a file puts into SQL."""
    text = path.read_text(encoding="utf-8")
    calls = re.search(r"\b(?:statement|session_rows)\(", text)
    if calls is None and SQL.search(text.replace("\\n", " ")) is None:
        return ()
    return tuple(put_in(ast.parse(text)))


def put_in(tree: ast.AST) -> Iterator[ast.expr]:
    """Every expression that becomes part of a text that looks like SQL."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
            parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
            if any(SQL.search(str(text)) for text in texts):
                yield from parts
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
            left = node.left
            if isinstance(left, ast.Constant) and SQL.search(str(left.value)):
                yield node.right
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("statement", "session_rows"):
            yield from (one.value for one in node.keywords)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            text = node.func.value
            named = node.func.attr in ("format", "format_map")
            if named and isinstance(text, ast.Constant) and SQL.search(str(text.value)):
                yield from [*node.args, *(one.value for one in node.keywords)]


def harmless(expression: ast.expr, known: set[str]) -> bool:
    source = ast.unparse(expression)
    if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "quoted":
        return True
    return CONSTANT.fullmatch(source) is not None or source in known


def findings(path: Path) -> list[str]:
    known = LOOKED_AT.get(path.name, set())
    return [
        f"{path.name}:{one.lineno}: {ast.unparse(one)}"
        for one in composed(path)
        if not harmless(one, known) and not sentence(path, one)
    ]


def sentence(path: Path, expression: ast.expr) -> bool:
    """Whether the line is a sentence for people that names SQL, or a constant put into one."""
    line = path.read_text(encoding="utf-8").splitlines()[expression.lineno - 1]
    return (
        re.search(r"Give user|needs GRANT|GRANT SELECT ON|The store's user may", line) is not None
    )


def test_there_is_code_to_look_at() -> None:
    """The search sees the SQL that is put together on purpose."""
    seen = [one for path in SOURCES for one in composed(path)]

    assert len(SOURCES) > 60
    assert len(seen) > 20


@pytest.mark.parametrize(
    "code",
    [
        "f\"SELECT 1 FROM t WHERE id = '{value}'\"",
        '"SELECT 1 FROM t WHERE id = " + value',
        '"SELECT 1 FROM t WHERE id = %s" % value',
        '"SELECT 1 FROM t WHERE id = {}".format(value)',
    ],
)
def test_the_search_finds_a_value_in_sql(code: str) -> None:
    """In every way of putting a text together."""
    assert [ast.unparse(one) for one in put_in(ast.parse(code))] == ["value"]


def test_no_value_is_written_into_sql() -> None:
    """What is put into SQL was looked at."""
    assert [found for path in SOURCES for found in findings(path)] == []


def test_hostile_values_are_values(store: Store) -> None:
    """Whatever a project, a session or an id is called, it is compared and nothing else."""
    insert(store, turn("t1"), call("c1", turn_id="t1"))
    hostile = "x' OR 1=1; DROP TABLE llm_call; -- \\' {id:String} %s \0"

    assert find(store, hostile) == []
    assert sessions(store, project=hostile).rows == []
    assert turns(store, session=hostile).rows == []
    assert replay(store, hostile, hostile, hostile).steps == []
    assert interrupt_turns(store, [hostile]) == 0
    for diagnostic in diagnostics().values():
        assert diagnostic.run(store, project=hostile).rows == []
    insert(store, turn("t2", session_id=hostile, stop_reason=hostile))
    assert [row[2] for row in turns(store, session=hostile).rows] == [hostile]
    assert len(replay(store, PROJECT, hostile).steps) == 1
    assert store.query("SELECT count() FROM llm_call").rows == [(1,)]
