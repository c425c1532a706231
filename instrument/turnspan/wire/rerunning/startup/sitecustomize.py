"""Python imports this before a program of a rerun: the rerun begins before the first request."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

if "TURNSPAN_RERUN" in os.environ:
    try:
        import turnspan.wire.rerunning  # noqa: F401  # pyright: ignore[reportUnusedImport]  it begins the rerun
    except Exception as error:  # noqa: BLE001  Python would go on without the rerun
        sys.exit(
            f"{sys.executable} cannot take part in the rerun ({type(error).__name__}: {error}): "
            "install turnspan there, or start the program without the rerun."
        )

_folder = os.path.dirname(os.path.abspath(__file__))
_spec = PathFinder.find_spec(
    "sitecustomize", [path for path in sys.path if os.path.abspath(path) != _folder]
)
if _spec is not None and _spec.loader is not None:  # the user's own, which ours stands before
    _module = module_from_spec(_spec)
    sys.modules["sitecustomize"] = _module
    _spec.loader.exec_module(_module)
