"""Where the recorded traffic and runs are that tests replay: they are not part of the repository.

``TURNSPAN_SHARED`` names the folder, else it is looked for as ``shared`` beside the repository.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def shared_folder() -> Path | None:
    """The folder with ``data/``, or ``None`` where it is not at hand."""
    named = os.environ.get("TURNSPAN_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"
    return folder if (folder / "data").is_dir() else None


def shared_data(*parts: str) -> Path:
    """A file or folder of the recorded data; skips the test, saying so, where there is none."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("the recorded runs are not at hand: set TURNSPAN_SHARED to their folder")
    return folder.joinpath("data", *parts)
