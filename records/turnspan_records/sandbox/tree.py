"""What ``EXPLAIN AST`` prints, as a tree.

A line is a node: blanks for its depth, its kind, what it is of, and how many children it has. A
name with a line break in it could look like nodes that are none; a tree whose numbers of children
do not fit is therefore no tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_LINE = re.compile(r"( *)(\S+)(?: (.*))?", re.DOTALL)
_CHILDREN = re.compile(r" \(children (\d+)\)\Z")
_ALIAS = re.compile(r" \(alias .*\)\Z", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}


@dataclass(slots=True)
class PlanNode:
    """One node; ``name`` is what it is of, without its alias."""

    kind: str
    name: str
    children: list[PlanNode] = field(default_factory=list["PlanNode"])

    def walk(self, parent: PlanNode | None = None) -> Iterator[tuple[PlanNode, PlanNode | None]]:
        """This node and all below, each with the one above it."""
        waiting: list[tuple[PlanNode, PlanNode | None]] = [(self, parent)]
        while waiting:
            node, above = waiting.pop()
            yield node, above
            waiting += [(child, node) for child in reversed(node.children)]


def parse(text: str) -> PlanNode:
    """The tree of tab-separated ``EXPLAIN AST``.

    Raises:
        ValueError: it is none.
    """
    open_nodes: list[tuple[PlanNode, int]] = []
    root: PlanNode | None = None
    for line in text.rstrip("\n").split("\n"):
        said = _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), line)
        children = _CHILDREN.search(said)
        matched = _LINE.fullmatch(said[: children.start()] if children else said)
        if matched is None:
            raise ValueError(f"not a node: {line!r}")
        blanks, kind, name = matched.groups()
        while open_nodes and len(open_nodes[-1][0].children) == open_nodes[-1][1]:
            open_nodes.pop()
        node = PlanNode(kind, _ALIAS.sub("", name or "", count=1))
        if len(blanks) != len(open_nodes) or (root is not None and not open_nodes):
            raise ValueError(f"out of place: {line!r}")
        if open_nodes:
            open_nodes[-1][0].children.append(node)
        else:
            root = node
        open_nodes.append((node, int(children[1]) if children else 0))
    if root is None or any(len(node.children) != wanted for node, wanted in open_nodes):
        raise ValueError("cut short")
    return root
