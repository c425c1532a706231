"""Which lines of a source belong together: conversations and traces, wherever their lines stand.

A source is read twice. First each line says which groups it has something of; a line then takes
some 40 bytes here, whatever its length. Then the groups come, in the order of their first lines,
each with all of its lines.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

MAX_JOINED: Final = 10_000
"""Lines of what is joined at most: answers that everybody gives must not make one group of all."""
_NONE: Final = -1


class Groups:
    """Groups of lines, the lines known by their numbers from 0."""

    def __init__(self) -> None:
        self._by_key: dict[bytes, int] = {}
        self._keys: list[bytes] = []
        self._parent = array("q")
        self._size = array("q")
        self._next = array("q")
        """The next group of those that were joined: a ring."""
        self._last_link = array("q")
        self._link_line = array("q")
        self._link_before = array("q")

    def group(self, key: bytes) -> int:
        """The group of a key, new if it is not known; what has an empty key is always new."""
        found = self._by_key.get(key) if key else None
        if found is not None:
            return found
        group = len(self._parent)
        if key:
            self._by_key[key] = group
        self._keys.append(key)
        self._parent.append(group)
        self._next.append(group)
        self._size.append(0)
        self._last_link.append(_NONE)
        return group

    def add(self, group: int, line: int) -> None:
        """Say that a line has something of a group."""
        last = self._last_link[group]
        if last != _NONE and self._link_line[last] == line:
            return
        self._last_link[group] = len(self._link_line)
        self._link_line.append(line)
        self._link_before.append(last)
        self._size[self._root(group)] += 1

    def join(self, one: int, other: int) -> None:
        """Say that two groups belong together. The older gives the place in the order."""
        first, second = sorted((self._root(one), self._root(other)))
        size = self._size[first] + self._size[second]
        if first == second or size > MAX_JOINED:
            return
        self._parent[second] = first
        self._size[first] = size
        self._next[first], self._next[second] = self._next[second], self._next[first]

    def __len__(self) -> int:
        return len(self._parent)

    def roots(self) -> Iterator[int]:
        """The groups that are not part of an older one, in order."""
        return (group for group, parent in enumerate(self._parent) if group == parent)

    def keys(self, root: int) -> set[bytes]:
        """The keys of a group and of those that are part of it."""
        return {self._keys[group] for group in self._members(root)}

    def lines(self, root: int) -> list[int]:
        """The lines of a group and of those that are part of it, in order."""
        found: set[int] = set()
        for group in self._members(root):
            link = self._last_link[group]
            while link != _NONE:
                found.add(self._link_line[link])
                link = self._link_before[link]
        return sorted(found)

    def _members(self, root: int) -> Iterator[int]:
        group = root
        while True:
            yield group
            group = self._next[group]
            if group == root:
                return

    def _root(self, group: int) -> int:
        parent = self._parent
        while parent[group] != group:
            parent[group] = parent[parent[group]]
            group = parent[group]
        return group
