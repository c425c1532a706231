"""Face: the ``turnspan`` command."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run the ``turnspan`` command; returns its exit code.

    0 ok, 1 a finding, a failed check or an unknown id, 2 wrong usage, 3 the store cannot be used.
    """
    if sys.argv[1:3] == ["hooks", "run"]:
        from turnspan_console.hook_start import leave_to_child

        leave_to_child()
    gc.set_threshold(20_000)  # what is imported stays: to look through it is 4 % of a command
    try:
        import click  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import rich  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ModuleNotFoundError as error:
        print(
            f"turnspan: the command needs {error.name}: pip install 'turnspan[console]'",
            file=sys.stderr,
        )
        return 2
    import logging

    from turnspan_console.cli import turnspan
    from turnspan_console.engine_import import ArrowFinder
    from turnspan_console.output import unexpected

    os.umask(0o077)  # what is made from here on, the engine's files above all, is its owner's alone
    sys.excepthook = unexpected
    sys.meta_path.insert(0, ArrowFinder())
    # What they log is told as a sentence of our own, or by the doctor.
    for name in ("clickhouse_connect", "turnspan"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    turnspan.main(prog_name="turnspan")
    return 0
