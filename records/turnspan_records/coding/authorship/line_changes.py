"""Lines in place of others: which are the same in another form, which were changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    """The origins of lines that others were joined to, or split into: of each the line that it has
    most of, if all that it has a part of are there whole."""
    stream = "".join(squeezed(text) for text, _ in removed)
    owners = [line for line, (text, _) in enumerate(removed) for _ in squeezed(text)]
    pieces: list[tuple[int, list[int]]] = []
    cursor = 0
    for text in texts:
        piece = squeezed(text)
        at = stream.find(piece, cursor)
        pieces.append((at, owners[at : at + len(piece)] if at >= 0 else []))
        cursor = cursor if at < 0 else at + len(piece)
    covered = Counter(line for _, owned in pieces for line in owned)
    whole = {line for line, many in Counter(owners).items() if covered[line] == many}
    found: list[int] = []
    for at, owned in pieces:
        line = NONE
        if owned and whole.issuperset(owned):
            line = Counter(owned).most_common(1)[0][0]
        elif at >= 0 and not owned and whole.issuperset(owners):  # nothing but a bracket
            line = owners[at] if at < len(owners) else len(removed) - 1
        found.append(NONE if line == NONE else removed[line][1])
    return found


def changed(
    removed: Sequence[tuple[str, int]], texts: Sequence[str], found: Sequence[int]
) -> dict[int, int]:
    """Of which old lines those new ones were made that ``found`` has no origin for."""
    taken = set(found)
    free = [one for one in removed if one[1] not in taken and weight(one[0]) > 2]
    left = [at for at, origin in enumerate(found) if origin == NONE and weight(texts[at]) > 2]
    made: dict[int, int] = {}
    for at in left if max(len(free), len(left)) <= _MOST else ():
        best = max(free, key=lambda one: alike(one[0], texts[at]), default=None)
        if best is not None and alike(best[0], texts[at]) >= ALIKE:
            made[at] = best[1]
            free.remove(best)
    return made


def alike(before: str, after: str) -> float:
    """How alike two lines are, from 0 to 1."""
    matcher = SequenceMatcher(None, before.strip()[:400], after.strip()[:400], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0
