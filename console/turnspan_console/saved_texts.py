"""What was saved under a name: statements, and views of the page. They are this user's own, for the
page and the command line."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.runtime.type_guards import is_dict
from turnspan_clickhouse.files.atomic_files import private_folder, write_whole
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.store.dsn import data_folder
from turnspan_console.control_characters import visible

MOST: Final = 200
LONGEST, LONGEST_NAME = 20_000, 80
"""Characters of a text, and of its name."""

_PATIENCE_SECONDS, _AGAIN_SECONDS = 2.0, 0.02


class SavedTextError(Exception):
    """A text cannot be saved, found or deleted; the message says what to do."""


@dataclass(frozen=True, slots=True)
class SavedTexts:
    """Texts of a kind, each under a name: one file."""

    file_name: str
    noun: str
    """What each is called in messages."""
    deleting: str
    """How one is deleted, for whoever has too many."""

    @property
    def path(self) -> Path:
        """The file."""
        return data_folder() / self.file_name

    def all(self) -> dict[str, str]:
        """The texts by name, in the order of the names.

        Raises:
            SavedTextError: the file cannot be read, or is none of ours.
        """
        path = self.path
        try:
            said: Any = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SavedTextError(f"{path} cannot be read ({error.strerror}).") from None
        except orjson.JSONDecodeError as error:
            raise SavedTextError(f"{path} is no JSON ({error}): mend it, or remove it.") from None
        if not is_dict(said) or not all(isinstance(text, str) for text in said.values()):
            raise SavedTextError(
                f"{path} must have a {self.noun} for each name, as text: mend it, or remove it."
            )
        return dict(sorted(said.items()))

    def text(self, name: str) -> str:
        """The text of a name.

        Raises:
            SavedTextError: there is none, or as ``all``.
        """
        return self._having(name)[name]

    def save(self, name: str, text: str) -> None:
        """Keep a text under a name, instead of what that had; on the disk when this returns.

        Raises:
            SavedTextError: the name or the text is none that can be kept, there are too many, or
                the file cannot be read or written.
        """
        self._check(name, text)
        with self._changing():
            known = self.all()
            if name not in known and len(known) >= MOST:
                raise SavedTextError(
                    f"{MOST} {self.noun}s are saved already: delete one with {self.deleting}."
                )
            self._write({**known, name: text})

    def rename(self, name: str, new: str) -> None:
        """Keep the text of a name under another one.

        Raises:
            SavedTextError: there is none, the new name is taken or none that can be kept, or the
                file cannot be read or written.
        """
        with self._changing():
            known = self._having(name)
            if new != name and new in known:
                raise SavedTextError(f"{new!r} is the name of another {self.noun}: choose another.")
            text = known.pop(name)
            self._check(new, text)
            self._write({**known, new: text})

    def delete(self, name: str) -> None:
        """Keep the text of a name no longer.

        Raises:
            SavedTextError: there is none, or the file cannot be read or written.
        """
        with self._changing():
            known = self._having(name)
            del known[name]
            self._write(known)

    def _check(self, name: str, text: str) -> None:
        seen = visible(name) == name and name.isprintable() and name == name.strip()
        if not name or not seen or name.startswith("-") or len(name) > LONGEST_NAME:
            raise SavedTextError(
                f"A name has 1 to {LONGEST_NAME} visible characters, without a blank at its ends "
                "or a - at its beginning: choose another."
            )
        if not text.strip():
            raise SavedTextError(f"There is no {self.noun} to save: write one first.")
        if len(text) > LONGEST:
            raise SavedTextError(
                f"A {self.noun} that is saved has {LONGEST:,} characters at most: shorten it, or "
                "keep it in a file of your own."
            )

    def _having(self, name: str) -> dict[str, str]:
        """The texts, of which one has this name."""
        known = self.all()
        if name not in known:
            names = ", ".join(known) or "none yet"
            raise SavedTextError(f"No {self.noun} is saved as {name!r}; there are: {names}.")
        return known

    @contextlib.contextmanager
    def _changing(self) -> Generator[None]:
        """While no other process changes the file."""
        try:
            path = private_folder(data_folder()) / self.file_name
            until = time.monotonic() + _PATIENCE_SECONDS
            while (lock := FileLock.take(path.with_suffix(".lock"))) is None:
                if time.monotonic() > until:
                    raise SavedTextError(f"Another process keeps {path}: try again.")
                time.sleep(_AGAIN_SECONDS)
            try:
                yield
            finally:
                lock.release()
        except OSError as error:
            raise SavedTextError(
                f"The {self.noun} cannot be kept in {self.path} ({error.strerror}): make room, or "
                "let this user write there."
            ) from None

    def _write(self, texts: dict[str, str]) -> None:
        try:
            content = orjson.dumps(texts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:  # half of a pair of surrogates
            raise SavedTextError(
                f"The {self.noun} contains an invalid character: remove it."
            ) from None
        write_whole(self.path, content, sync=True)


QUERIES: Final = SavedTexts("saved-queries.json", "statement", "`turnspan sql --delete-saved NAME`")
VIEWS: Final = SavedTexts("saved-views.json", "view", "the star of its list on the page")
"""Addresses of the page, without its origin."""
