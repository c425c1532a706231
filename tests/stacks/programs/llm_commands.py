"""Commands of `llm`, one after the other in one process, as its users type them.

The first argument is JSON: their arguments. Each is given to the very command, plugins included,
so Turnspan begins as it does there. The last line printed is JSON: each command's exit code.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from llm.cli import cli

codes = []
for arguments in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            cli.main(args=arguments, standalone_mode=True)
            codes.append(0)
        except SystemExit as left:
            codes.append(left.code or 0)
        except Exception as error:  # noqa: BLE001  as the interpreter would end with it
            codes.append(f"{type(error).__name__}: {error}")
    sys.stderr.write(f"$ llm {arguments}\n{said.getvalue()}\n")
print(json.dumps(codes))
