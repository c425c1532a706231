"""Single keys from a terminal."""

from __future__ import annotations

import sys

import click

END = "q"
"""What the end of the input is taken for."""


class KeyReader:
    """Reads one key at a time.

    What is typed before a key is waited for is thrown away by the terminal: it was not meant for
    what is shown now.
    """

    def read(self) -> str:
        """A key, in lower case; nothing for what is none: several at once, which were pasted.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        try:
            key = self._read()
        except EOFError:
            return END
        if key.startswith("\x1b["):
            return key
        return key.lower() if len(key) == 1 else ""

    if sys.platform == "win32":

        def _read(self) -> str:
            return click.getchar()

    else:

        def _read(self) -> str:
            # Not everywhere: Windows has neither.
            import os
            import termios
            import tty

            terminal = sys.stdin.fileno()
            before = termios.tcgetattr(terminal)
            try:
                tty.setraw(terminal)
                key = os.read(terminal, 32).decode("utf-8", "replace")
            finally:
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            if key == "\x03":
                raise KeyboardInterrupt
            if key in ("", "\x04"):
                raise EOFError
            return key
