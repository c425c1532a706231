"""Near duplicates, by how many runs of three words two texts share (MinHash, of rensa)."""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any, Final

from turnspan_records.access.whole_folders import ExportError

WORDS: Final = 3
"""Words of a shingle."""
PERMUTATIONS: Final = 128
SEED: Final = 42


class NearDuplicates:
    """Remembers what was seen, half a kilobyte and its place in an index each, and tells whether
    another text is nearly the same. Which pairs are found is estimated: some are missed."""

    def __init__(self, similarity: float) -> None:
        """Raises ``ExportError`` where the library is not installed."""
        try:
            library: Any = importlib.import_module("rensa")
        except ImportError:
            raise ExportError(
                "To look for near duplicates: pip install 'turnspan[export]'."
            ) from None
        self._sketch: Any = library.RMinHash
        settings = (similarity, PERMUTATIONS, True, None, SEED)
        self._seen: Any = library.RMinHashDeduplicator(*settings)
        self._number = 0
        self.by = (
            f"rensa {metadata.version('rensa')}: MinHash of runs of {WORDS} words,"
            f" {PERMUTATIONS} permutations, similarity of at least {similarity}"
        )

    def seen(self, text: str) -> bool:
        """Whether a text is nearly one seen before; else it counts as seen from now on."""
        words = text.split()
        runs = [" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))]
        sketch = self._sketch(PERMUTATIONS, SEED)
        sketch.update(runs)
        self._number += 1
        return not self._seen.add(str(self._number), sketch)
