"""The dialect ``openai.embeddings``: kwargs of ``embeddings.create``. The vectors are not kept."""

from __future__ import annotations

from functools import partial
from typing import Final

from turnspan.dialects.openai_completions import join_texts, split_texts

NAME: Final = "openai.embeddings"

split_request: Final = partial(split_texts, field="input")
join_request: Final = partial(join_texts, field="input")
"""Each text to embed is a message."""
