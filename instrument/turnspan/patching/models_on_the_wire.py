"""What a request to a model looks like from outside: hosts, and the code that sends it.

Tables only, and questions to them. Nothing here imports any of the packages named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from types import FrameType
from typing import Any, Final, cast

from turnspan.runtime.later import later

INSIDE: Final[ContextVar[object]] = ContextVar("turnspan-inside-recorded", default=False)
"""Set while a recorded stream fetches its next piece, which may be when its request is sent: to its
call, where a rerun is to know that, else to ``True``."""

_HOSTS: Final = frozenset(
    {
        *("api.openai.com", "models.inference.ai.azure.com", "models.github.ai"),
        *("api.anthropic.com", "generativelanguage.googleapis.com", "aiplatform.googleapis.com"),
        *("api.mistral.ai", "codestral.mistral.ai", "api.cohere.com", "api.cohere.ai"),
        *("api.groq.com", "api.deepseek.com", "api.x.ai", "api.perplexity.ai", "openrouter.ai"),
        *("api.together.xyz", "api.together.ai", "api.fireworks.ai", "api.cerebras.ai"),
        *("api.replicate.com", "router.huggingface.co", "api-inference.huggingface.co"),
        *("api.moonshot.ai", "api.moonshot.cn", "dashscope.aliyuncs.com"),
        *("dashscope-intl.aliyuncs.com", "open.bigmodel.cn", "api.z.ai", "api.minimax.io"),
        *("api.sambanova.ai", "integrate.api.nvidia.com", "api.ai21.com", "api.voyageai.com"),
        *("api.writer.com", "api.deepinfra.com", "api.novita.ai", "ollama.com", "api.jina.ai"),
    }
)
_SUFFIXES: Final = (
    "-aiplatform.googleapis.com",
    ".openai.azure.com",
    ".cognitiveservices.azure.com",
    ".services.ai.azure.com",
    ".models.ai.azure.com",
    ".ml.cloud.ibm.com",
    ".api.openai.com",
)
_BEDROCK: Final = later(r"bedrock-runtime[\w.-]*\.amazonaws\.com(?:\.cn)?\Z")

SENDERS: Final = {
    "aleph_alpha_client": "alephalpha",
    "botocore": "bedrock",
    "google.genai": "google_genai",
    "google.generativeai": "google_generativeai",
    "ibm_watsonx_ai": "watsonx",
    "langchain_mistralai": "langchain",
    "writerai": "writer",
} | {
    name: name
    for name in (
        *("ai21", "anthropic", "cerebras", "cohere", "dashscope", "fireworks", "groq"),
        *("huggingface_hub", "litellm", "mistralai", "ollama", "openai", "replicate"),
        *("together", "vertexai", "voyageai", "zhipuai"),
    )
}
"""Modules that send requests to models: the library's name, as ``installed.LIBRARIES`` has it."""

AGENTS: Final = frozenset(
    ("aider", "claude", "codex", "copilot", "cursor-agent", "gemini", "goose", "opencode")
)
"""Agents that run as processes of their own, by the names of their programs."""
_SCRIPTS: Final = {"claude-code/cli.js": "claude", "claude_agent_sdk/_bundled": "claude"}
_LOOKED_AT: Final = 3
_MAX_FRAMES: Final = 60


@lru_cache(maxsize=1_024)
def is_provider(host: str) -> bool:
    """Whether a host is a model provider's."""
    host = host.lower().rstrip(".")
    return host in _HOSTS or host.endswith(_SUFFIXES) or _BEDROCK.search(host) is not None


def sender(frame: FrameType | None) -> str:
    """The library whose code is nearest to the wire in this stack; empty where none is known."""
    known = _library_of
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        module: Any = frame.f_globals.get("__name__")
        if type(module) is str:
            found = known.get(module)
            if found is None:
                found = _library(module)
            if found:
                return found
        frame = frame.f_back
    return ""


_library_of: Final[dict[str, str]] = {}
"""What is known of modules: each request asks it of every one in its stack."""
_MAX_MODULES: Final = 10_000


def _library(module: str) -> str:
    """The library that a module is of; empty where none is known."""
    top, _, rest = module.partition(".")
    if top == "google":
        top = f"{top}.{rest.partition('.')[0]}"
    library = SENDERS.get(top, "")
    if len(_library_of) < _MAX_MODULES:
        _library_of[module] = library
    return library


def agent_program(command: Any) -> str:
    """The agent that a command line runs; empty for any other program."""
    words: Sequence[Any] = ()
    if isinstance(command, str):  # maybe a shell's command line
        words = command.split()
    elif isinstance(command, (list, tuple)):  # never an iterator, which could be read once only
        words = cast("Sequence[Any]", command)
    for word in words[:_LOOKED_AT]:
        try:
            path = os.fsdecode(word)
        except TypeError:
            return ""
        name = re.split(r"[/\\]", path)[-1].lower().removesuffix(".exe").removesuffix(".cmd")
        if name in AGENTS:
            return name
        for part, agent in _SCRIPTS.items():
            if part in path:
                return agent
    return ""
