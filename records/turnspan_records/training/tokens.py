"""How long a sample is: counted by the model's own tokenizer where one is named, else estimated.

Counting never goes to a network: where the tokenizer's data is not at hand, the export says so.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import dumps
from turnspan_records.access.whole_folders import ExportError
from turnspan_records.training.chat import Chat

BYTES_A_TOKEN = 4
_KEPT = 50_000
_TIKTOKEN: Final = "tiktoken:"
_TIKTOKEN_DATA: Final = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The sha256 of an encoding's data, as tiktoken checks it: what differs it would fetch anew."""
_TIKTOKEN_AT: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


class Tokens:
    """Counts what messages say. What a chat template adds is not counted: nobody knows it here."""

    def __init__(self, tokenizer: str = "") -> None:
        """Raises ``ExportError`` where the tokenizer's file, or its library, is not there."""
        self.by = f"an estimate: {BYTES_A_TOKEN} bytes of UTF-8 are a token"
        self._count: Callable[[str], int] | None = None
        if tokenizer.startswith(_TIKTOKEN):
            self._count, self.by = _of_tiktoken(tokenizer.removeprefix(_TIKTOKEN))
        elif tokenizer:
            self._count, self.by = _of_file(Path(tokenizer))
        self._known: dict[bytes, int] = {}

    def of(self, text: str) -> int:
        """How many tokens a text has."""
        if self._count is not None:
            return self._count(text)
        return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)

    def of_message(self, message: Chat) -> int:
        """How many tokens a message has; images count as nothing."""
        known = self._known.get(message.digest)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            calls = message.body.get("tool_calls", ())
            written = [message.text, str(message.body.get("reasoning_content", ""))]
            written += [dumps(call["function"]).decode() for call in calls]
            known = self._known[message.digest] = sum(self.of(text) for text in written if text)
        return known


def _of_file(path: Path) -> tuple[Callable[[str], int], str]:
    if not path.is_file():
        raise ExportError(f"There is no tokenizer {path}: name a tokenizer.json of your model.")
    try:
        from tokenizers import Tokenizer  # of the extra `export`
    except ImportError:
        raise ExportError("To count tokens: pip install 'turnspan[export]'.") from None
    content = path.read_bytes()
    tokenizer = Tokenizer.from_str(content.decode())

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count, f"{path.name}, sha256 {hashlib.sha256(content).hexdigest()[:16]}"


def _of_tiktoken(name: str) -> tuple[Callable[[str], int], str]:
    hashed = _TIKTOKEN_DATA.get(name)
    if hashed is None:
        known = ", ".join(f"{_TIKTOKEN}{one}" for one in _TIKTOKEN_DATA)
        raise ExportError(f"There is no {_TIKTOKEN}{name}: name one of {known}.")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", "")
    data = Path(folder) / hashlib.sha1(_TIKTOKEN_AT.format(name).encode()).hexdigest()
    if not folder or not data.is_file() or hashlib.sha256(data.read_bytes()).hexdigest() != hashed:
        raise ExportError(
            f"The data of tiktoken's {name} is not at hand, and nothing is fetched: set"
            f" TIKTOKEN_CACHE_DIR to a folder that has it as {data.name}."
        )
    try:
        library: Any = importlib.import_module("tiktoken")
    except ImportError:
        raise ExportError("To count tokens so: pip install tiktoken.") from None
    encoding = library.get_encoding(name)

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count, f"tiktoken {metadata.version('tiktoken')}, {name}, sha256 {hashed[:16]}"
