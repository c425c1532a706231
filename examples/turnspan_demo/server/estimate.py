"""Token counts of a recorded reply: recorded ones where there are any, else an estimate.

The estimate is one token for four characters (rounded up) plus four a message, about what the
providers' tokenizers give for English; it depends on nothing but the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_demo.model import Reply
from turnspan_demo.server.conversation import ChatRequest, Said

PER_MESSAGE = 4
CACHE_STEP = 128
CACHE_FLOOR = 1024


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call used. ``prompt`` counts everything sent, cached or not; ``output`` includes
    ``reasoning``."""

    prompt: int
    output: int
    reasoning: int
    before: int
    prefix: int

    def openai_cached(self, first: bool) -> int:
        """Prompt tokens that OpenAI's automatic cache would hold: steps of 128, from 1,024 on."""
        held = 0 if first else self.before // CACHE_STEP * CACHE_STEP
        return held if held >= CACHE_FLOOR else 0


def count(text: str) -> int:
    """Estimated tokens of a text; 0 for none."""
    return -(-len(text) // 4)


def tokens(request: ChatRequest, reply: Reply, fresh: int) -> Tokens:
    """The counts of one call; ``fresh`` messages at the end were not in the call before."""
    prefix = count(request.system) + count(request.tools_text)
    sizes = [_size(message) for message in request.messages]
    prompt = prefix + sum(sizes)
    reasoning = count(reply.thinking)
    output = max(1, _size(Said("assistant", reply.text)) - PER_MESSAGE + reasoning)
    output += sum(count(tool.name) + count(tool.arguments) for tool in reply.tools)
    before = prefix + sum(sizes[: len(sizes) - fresh])
    if reply.usage is not None:
        prompt, output = reply.usage
    return Tokens(max(1, prompt), max(1, output), reasoning, before, prefix)


def _size(message: Said) -> int:
    asked = sum(count(name) + count(arguments) for name, arguments in message.tools)
    return PER_MESSAGE + count(message.text) + asked
