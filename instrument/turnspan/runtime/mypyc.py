"""What the compiler of ``hatch_build.py`` is told of a class. Not compiled itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**_: object) -> Any:
        """Nothing to the interpreter."""
        return lambda cls: cls
