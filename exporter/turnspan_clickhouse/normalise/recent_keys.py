"""What has landed, by key: a set that forgets its oldest and costs the application no time.

A full garbage collection looks at every element of a ``set`` or an ``OrderedDict``: with 200,000
keys that is tens of milliseconds during which the whole process stands still. A dictionary that
holds only bytes is not among what is collected.
"""

from __future__ import annotations


class Seen:
    """Remembers the newest ``limit`` keys at most, and half as many at least."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._young: dict[bytes, None] = {}
        self._old: dict[bytes, None] = {}

    def add(self, key: bytes) -> bool:
        """Remember a key; whether it is new."""
        young = self._young
        if key in young:
            return False
        young[key] = None
        new = key not in self._old
        if len(young) >= self._half:
            self._old, self._young = young, {}
        return new

    def clear(self) -> None:
        """Forget everything."""
        self._young = {}
        self._old = {}
