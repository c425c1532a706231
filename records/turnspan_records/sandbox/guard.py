"""What a query that somebody wrote may be: one statement that reads records and nothing else.

Judged by the engine's own syntax tree, by what is known to be harmless: a kind of node, a function
or a table that is not named here or in ``functions.txt`` is refused.
"""

from __future__ import annotations

import re

from turnspan_clickhouse.errors import StoreError
from turnspan_records.sandbox.functions import functions
from turnspan_records.sandbox.tree import PlanNode

FILES, WRITE = "files", "write"

READABLE = frozenset(
    f"system.{table}"
    for table in (
        *("columns", "databases", "functions", "numbers", "one", "parts", "parts_columns"),
        *("settings", "tables", "zeros"),
    )
)
"""Tables of the engine that tell about records, functions and settings, and nothing else."""

_STATEMENT = re.compile(r"\(*(SELECT|WITH|SHOW|DESCRIBE|EXISTS|EXPLAIN)\b")
_EXPLAINS = frozenset(
    f"EXPLAIN{kind}" for kind in ("", " AST", " SYNTAX", " QUERY TREE", " PIPELINE", " ESTIMATE")
)
_NODES = frozenset(
    (
        *("SelectWithUnionQuery", "SelectIntersectExceptQuery", "SelectQuery", "Subquery"),
        *("ExpressionList", "Function", "Identifier", "Literal", "WithElement"),
        *("TablesInSelectQuery", "TablesInSelectQueryElement", "TableExpression"),
        *("TableIdentifier", "TableJoin", "ArrayJoin", "SampleRatio"),
        *("Asterisk", "QualifiedAsterisk", "ColumnsListMatcher", "QualifiedColumnsListMatcher"),
        *("ColumnsRegexpMatcher", "QualifiedColumnsRegexpMatcher", "ColumnsTransformerList"),
        *("ColumnsExceptTransformer", "ColumnsReplaceTransformer"),
        "ColumnsReplaceTransformer::Replacement",
        *("OrderByElement", "InterpolateElement", "WindowDefinition", "WindowListElement"),
        *("Collation", "DescribeQuery"),
    )
)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
_SETTINGS = re.compile(r"\bSETTINGS\b( final = [01](?![\w,.]))?")
_SPECIAL = {
    "Set": ("SETTINGS cannot be changed here", FILES),
    "ColumnsApplyTransformer": (
        "APPLY is refused, because its function is hidden: write it out",
        "",
    ),
    "QueryParameter": ("a parameter of the query has no value", ""),
}
_IN = re.compile(r"(?:global)?(?:not)?(?:null)?in(?:ignoreset)?")

_N = r"(?:`(?:[^`\\]|\\.)*`|[A-Za-z_]\w*)"
_LIKE = r"(?: (?:NOT )?I?LIKE '(?:[^'\\]|\\.)*')?(?: LIMIT \d+)?"
_SHOWS = tuple(
    re.compile(form)
    for form in (
        rf"SHOW (?:FULL )?TABLES(?: FROM (?P<database>{_N}))?{_LIKE}",
        rf"SHOW (?:DATABASES|FUNCTIONS|(?:CHANGED )?SETTINGS){_LIKE}",
        rf"SHOW (?:EXTENDED )?(?:FULL )?(?:COLUMNS|INDEXES) FROM (?P<table>{_N})"
        rf"(?: FROM (?P<database>{_N}))?{_LIKE}",
        rf"(?:SHOW CREATE|EXISTS) (?:TABLE|VIEW) (?:(?P<database>{_N})\.)?(?P<table>{_N})",
        rf"EXISTS DATABASE (?P<database>{_N})",
    )
)
"""SHOW and EXISTS as the engine writes them: their trees do not hold what they are asked for."""


class RefusedError(StoreError):
    """The query is not allowed. ``needs`` is what would allow it: FILES, WRITE or nothing."""

    def __init__(self, message: str, needs: str = "") -> None:
        super().__init__(message)
        self.needs = needs


def check_statement(sql: str) -> None:
    """Refuse what does not begin as a reading statement does, as the engine writes it.

    Raises:
        RefusedError: it may not even be explained.
    """
    if not _STATEMENT.match(sql):
        word = re.match(r"\W*(\w*)", sql)
        raise RefusedError(
            f"{(word[1] if word else '').upper() or 'This'} is not a reading statement", WRITE
        )


def sets_final(sql: str) -> bool:
    """Whether the statement has SETTINGS, and all of them are ``final``: every version of a record,
    or each record once. That is the reader's business; no limit hangs on it."""
    found = _SETTINGS.findall(_QUOTED.sub("''", sql))
    return bool(found) and all(found)


def check(tree: PlanNode, sql: str, database: str, *, files: bool = False) -> None:
    """Refuse what is more than reading the records of ``database``.

    ``sql`` is the statement as the engine writes it. With ``files`` it may read and write whatever
    the user may but the store: only the kind of the statement is looked at.

    Raises:
        RefusedError: it may not be run.
    """
    if sql.startswith(("SHOW", "EXISTS")):
        if not files:
            _check_show(sql, database)
        return
    asked = _explained(tree, files=files)
    if asked.kind not in ("SelectWithUnionQuery", "DescribeQuery"):
        word = " ".join(sql.split(maxsplit=1)[:1]) or "This"
        raise RefusedError(f"{word} is not a reading statement", WRITE)
    if files:
        return
    if asked.kind == "DescribeQuery" and len(asked.children) != 1:
        raise _output()
    settings = 0
    for node, parent in asked.walk():
        if node.kind == "Set" and sets_final(sql):
            settings += 1
        else:
            _check_node(node, parent, database)
    if settings > len(_SETTINGS.findall(_QUOTED.sub("''", sql))):
        raise RefusedError(*_SPECIAL["Set"])


def _explained(tree: PlanNode, *, files: bool) -> PlanNode:
    """What an EXPLAIN explains, however deep; anything else is what it is."""
    while tree.kind == "Explain":
        parts = tree.children
        if parts and parts[0].kind == "Set":  # EXPLAIN's own options
            parts = parts[1:]
        if tree.name not in _EXPLAINS or not parts:
            raise RefusedError(f"{tree.name} is refused")
        if len(parts) > 1 and not files:
            raise _output()
        tree = parts[0]
        if tree.kind not in ("Explain", "SelectWithUnionQuery"):
            raise RefusedError("Only reading statements are explained", WRITE)
    return tree


def _check_node(node: PlanNode, parent: PlanNode | None, database: str) -> None:
    if node.kind not in _NODES:
        message, needs = _SPECIAL.get(node.kind, (f"{node.kind} is not known to be harmless", ""))
        raise RefusedError(message[:1].upper() + message[1:], needs)
    if node.kind == "SelectWithUnionQuery" and len(node.children) != 1:
        raise _output()
    if node.kind == "TableIdentifier":
        _check_table(node.name, database)
    elif node.kind == "Function":
        known = functions()
        table = parent is not None and parent.kind == "TableExpression"
        if not (known.allows_table(node.name) if table else known.allows(node.name)):
            why = known.reason(node.name, table=table)
            raise RefusedError(f"{node.name}() is refused: it {why}", FILES)
        if not table and _IN.fullmatch(node.name.lower()):
            arguments = node.children[0].children if node.children else []
            for one in arguments[1:]:
                if one.kind == "Identifier":
                    _check_table(one.name, database)
                elif one.kind == "Function" and known.is_table(one.name):
                    raise RefusedError(f"IN {one.name}() is refused: select from it", FILES)


def _output() -> RefusedError:
    return RefusedError("INTO OUTFILE and FORMAT are refused in a query", FILES)


def _check_table(name: str, database: str) -> None:
    inside, dot, table = name.partition(".")
    if database.count("."):  # a database whose own name has one: only as it is written there
        dot, inside = (".", database) if name.startswith(f"{database}.") else (dot, inside)
        table = name.removeprefix(f"{database}.")
    if not dot or name in READABLE or (inside == database and "." not in table):
        return
    raise RefusedError(
        f"{name} is not a table of the records: you can read those of {database}, and the engine's "
        f"{', '.join(sorted(READABLE))}",
        FILES,
    )


def _check_show(sql: str, database: str) -> None:
    for form in _SHOWS:
        if matched := form.fullmatch(sql):
            found = matched.groupdict()
            inside, table = (_plain(found.get(name)) for name in ("database", "table"))
            if inside not in ("", database) and f"{inside}.{table}" not in READABLE:
                raise RefusedError(f"{inside} is not the database of the records", FILES)
            return
    raise RefusedError(
        "Of SHOW and EXISTS there are those of tables, views, columns, functions and settings, "
        "with LIKE and without WHERE"
    )


def _plain(identifier: str | None) -> str:
    if identifier is None or not identifier.startswith("`"):
        return identifier or ""
    return re.sub(r"\\(.)", r"\1", identifier[1:-1])
