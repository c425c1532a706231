"""How long a sample is: counted by the model's own tokenizer where one is named, else estimated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from turnspan.content.model import dumps
from turnspan_records.training.chat import Chat
from turnspan_records.training.wanted import ExportError

BYTES_A_TOKEN = 4
_KEPT = 50_000


class Tokens:
    """Counts what messages say. What a chat template adds is not counted: nobody knows it here."""

    def __init__(self, tokenizer: str = "") -> None:
        """Raises ``ExportError`` where the tokenizer's file, or its library, is not there."""
        self.by = f"an estimate: {BYTES_A_TOKEN} bytes of UTF-8 are a token"
        self._count: Callable[[str], int] | None = None
        if tokenizer:
            self._count, self.by = _of_file(Path(tokenizer))
        self._known: dict[bytes, int] = {}

    def of(self, text: str) -> int:
        """How many tokens a text has."""
        if self._count is not None:
            return self._count(text)
        return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)

    def of_message(self, message: Chat) -> int:
        """How many tokens a message has; images count as nothing."""
        known = self._known.get(message.said)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            calls = message.body.get("tool_calls", ())
            written = [message.text, str(message.body.get("reasoning_content", ""))]
            written += [dumps(call["function"]).decode() for call in calls]
            known = self._known[message.said] = sum(self.of(text) for text in written if text)
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
