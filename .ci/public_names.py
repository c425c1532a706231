"""For the API pages: a package's public name is what it exports, also where a module is called so.

`turnspan.inference` is a function, and the module that it comes from has the same name; read
statically, the module would hide the function.
"""

from __future__ import annotations

from typing import Any

import griffe


class PublicNames(griffe.Extension):
    """Puts what `__all__` names in the place of a submodule of the same name."""

    def on_package(self, *, pkg: griffe.Module, **_kwargs: Any) -> None:
        """Called once a package has been read."""
        for name in pkg.exports or ():
            member = pkg.members.get(str(name))
            imported = pkg.imports.get(str(name))
            if isinstance(member, griffe.Module) and imported and imported != member.path:
                pkg.set_member(str(name), griffe.Alias(str(name), imported, parent=pkg))
