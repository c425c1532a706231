"""The page's token: made once, kept in a file that only its user can read."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

FILE_NAME = "page-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")


class TokenError(Exception):
    """A file holds no token that can be used; the message says what to do."""


def own_token(folder: Path, *, new: bool = False) -> str:
    """The token of the file in this folder; made where there is none, or with ``new`` anew.

    The same one as long as nobody asks for another: pages that are open survive a restart.

    Raises:
        TokenError: the file can be read by others, or cannot be written.
    """
    file = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not new and file.exists():
            _check_owner(file)
            found = file.read_text(encoding="ascii", errors="replace").strip()
            if _TOKEN.fullmatch(found):
                return found
        return _written(file)
    except OSError as error:
        raise TokenError(f"The page's token cannot be kept in {file}: {error.strerror}.") from None


def tokens_of(file: Path) -> tuple[str, ...]:
    """The tokens of a file that was named, one a line.

    Raises:
        TokenError: there is none, or one that is short enough to be guessed.
    """
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    found = tuple(line.strip() for line in lines if line.strip())
    if not found or not all(_TOKEN.fullmatch(one) for one in found):
        raise TokenError(
            f"{file} must hold tokens of 16 to 256 letters, digits, - and _, one a line: "
            'make one with python -c "import secrets; print(secrets.token_urlsafe(32))".'
        )
    return found


def _check_owner(file: Path) -> None:
    if sys.platform == "win32":  # the user's own folder keeps others out there
        return
    about = file.lstat()
    if about.st_mode & 0o077 or about.st_uid != os.getuid():
        raise TokenError(
            f"{file} can be read by others: make a new token with `turnspan console --new-token`."
        )


def _written(file: Path) -> str:
    token = secrets.token_urlsafe(32)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    # Never readable by others, not even for a moment.
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(token + "\n")
    os.replace(part, file)
    return token
