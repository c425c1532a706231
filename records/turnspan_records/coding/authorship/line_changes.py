"""Lines in place of others: which are the same in another form, which were changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final
from zlib import crc32

from turnspan_records.coding.authorship.edits import key_of, squeezed, weight

NONE: Final = -1
"""No origin: a line that is new."""
ALIKE: Final = 0.75
"""From which ratio on a line is a change of the one it replaces."""
_MOST: Final = 40
"""Lines of a hunk that are compared with all others of it."""


def checksum(key: str) -> int:
    """A number for the key of a line."""
    return crc32(key.encode("utf-8", "replace"))


def kept(removed: Sequence[tuple[str, int]], texts: Sequence[str]) -> list[int]:
    """The origins of new lines that are old ones in another form; ``NONE`` of others."""
    found = [NONE] * len(texts)
    if not removed or not texts:
        return found
    old, new = [key_of(one) for one, _ in removed], [key_of(one) for one in texts]
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > 1_000_000)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            found[j1:j2] = [origin for _, origin in removed[i1:i2]]
        elif tag == "replace":
            found[j1:j2] = _divided(removed[i1:i2], texts[j1:j2])
    return found


def _divided(removed: Sequence[tuple[str, int]], texts: Sequence[str]) -> list[int]:
    """The origins of lines that others were joined to, or split into."""
    found = [NONE] * len(texts)
    ends: list[int] = []
    stream = ""
    for text, _ in removed:
        stream += squeezed(text)
        ends.append(len(stream))
    covered = [0] * len(ends)
    places: list[tuple[int, int] | None] = []
    cursor = 0
    for text in texts:
        piece = squeezed(text)
        at = stream.find(piece, cursor) if piece else cursor
        if at < 0:
            places.append(None)
            continue
        places.append((at, at + len(piece)))
        for line, first, last in _overlaps(ends, at, at + len(piece)):
            covered[line] += last - first
        cursor = at + len(piece)
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    for at, place in enumerate(places):
        if place is None:
            continue
        parts = list(_overlaps(ends, *place))
        if parts and all(covered[line] == sizes[line] for line, _, _ in parts):
            found[at] = removed[max(parts, key=lambda one: one[2] - one[1])[0]][1]
        elif not parts and removed and all(a == b for a, b in zip(covered, sizes, strict=True)):
            found[at] = removed[min(_line_of(ends, place[0]), len(ends) - 1)][1]
    return found


def _line_of(ends: Sequence[int], place: int) -> int:
    return next((line for line, end in enumerate(ends) if place < end), len(ends))


def _overlaps(ends: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    start = 0
    for line, end in enumerate(ends):
        if start < last and first < end and start < end:
            yield line, max(start, first), min(end, last)
        start = end


def changed(
    removed: Sequence[tuple[str, int]], texts: Sequence[str], found: Sequence[int]
) -> dict[int, int]:
    """Of which old lines those new ones were made that ``found`` has no origin for."""
    taken = set(found)
    free = [one for one in removed if one[1] not in taken and weight(one[0]) > 2]
    made: dict[int, int] = {}
    left = [at for at, origin in enumerate(found) if origin == NONE and weight(texts[at]) > 2]
    if len(free) > _MOST or len(left) > _MOST:
        return made
    for at in left:
        best = max(free, key=lambda one: alike(one[0], texts[at]), default=None)
        if best is not None and alike(best[0], texts[at]) >= ALIKE:
            made[at] = best[1]
            free.remove(best)
    return made


def alike(before: str, after: str) -> float:
    """How alike two lines are, from 0 to 1."""
    matcher = SequenceMatcher(None, before.strip()[:400], after.strip()[:400], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0
