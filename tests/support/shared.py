"""The recorded traffic and runs that tests replay: the large data, or the sample of it.

The large data are recordings of others and not part of the repository. ``TURNSPAN_SHARED`` names
their folder, else it is looked for as ``shared`` beside the repository. Where they are not at hand,
the sample of the same formats in ``tests/data/sample`` is read, which we made ourselves
(``tests/data/make_sample.py``); the tests marked ``large_data``, which make no sense on it, are
left out then, and one test is skipped that says so (``tests/packaging/test_large_data.py``).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "tests" / "data" / "sample"
MISSING = (
    "the large recorded data is not at hand: tests ran on the sample in tests/data/sample, those "
    "marked large_data not at all; set TURNSPAN_SHARED to its folder"
)


def shared_folder() -> Path | None:
    """The folder with the large data in ``data/``, or ``None`` where it is not at hand."""
    named = os.environ.get("TURNSPAN_SHARED")
    folder = Path(named) if named else REPOSITORY.parent / "shared"
    return folder if (folder / "data").is_dir() else None


def recorded_data(*parts: str) -> Path:
    """A file or folder of the recorded data: of the large ones, else of the sample."""
    folder = shared_folder()
    return (SAMPLE if folder is None else folder / "data").joinpath(*parts)


def trajectories(*large: str) -> list[Path]:
    """These trajectory files (their names without ``.jsonl``), else the sample's of the same
    layouts, which the names begin with (``tau-bench``, ``tau2``, ...); all where none is named."""
    folder = recorded_data("trajectories")
    if not large:
        return sorted(folder.glob("*.jsonl"))
    if shared_folder() is not None:
        return [folder / f"{name}.jsonl" for name in large]
    layouts = dict.fromkeys(name.partition("__")[0].removesuffix("-fork") for name in large)
    return [folder / f"{layout}__sample.jsonl" for layout in layouts]


def enough(large: int, sample: int) -> int:
    """How many there have to be: of the large data, else of the sample."""
    return sample if shared_folder() is None else large


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the large data can be tested with, where they are not at hand."""
    if shared_folder() is not None:
        return
    left = [item for item in items if item.get_closest_marker("large_data") is not None]
    if left:
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=left)
