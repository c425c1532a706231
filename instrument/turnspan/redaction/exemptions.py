"""What is left alone: opaque values of providers, and words that the hook is not asked about.

Opaque values must come back exactly: masks and hook do not change them. Where they stand in a
message counts, not the key alone: what an application or a model writes under such a key (in a
tool's arguments or its result) is masked as everything else.
"""

from __future__ import annotations

import re
from typing import Any, Final

from turnspan.content.model import as_dict, as_list

# Words that the application's hook is not asked about. Masking one of them would hide nobody's
# secret and break what reads the records: a message without its ``role``, a call without its
# operation. The built-in masks look at them all the same.

_GRAMMAR: Final = """
assistant auto content developer function image_url input_text message object output_text role
string system text tool tool_call tool_call_response tool_result tool_use type user
blob file uri reasoning unknown compaction server_tool_call server_tool_call_response
image audio video document integer number boolean array null none any required true false json
json_object json_schema ephemeral thinking
"""

_VOCABULARY: Final = """
chat completion completions generate_content text_completion embeddings execute_tool invoke_agent
create_agent invoke_workflow retrieval extension datastore
stop length tool_calls content_filter end_turn max_tokens max_output_tokens stop_sequence
pause_turn refusal function_call error completed incomplete in_progress
model_context_window_exceeded
user_aborted budget_exceeded round_cap tool_failure silent_rounds empty_no_tools
running final interrupted
complete abandoned cancelled conversational _OTHER
openai anthropic aws.bedrock azure.ai.openai azure.ai.inference gcp.gemini gcp.gen_ai gcp.vertex_ai
cohere deepseek groq mistral_ai perplexity x_ai
"""

_KEYS: Final = """
type role content parts name id call_id arguments response result input output value text
tool_use_id tool_call_id tool_calls function description parameters properties items required enum
default additionalProperties anyOf oneOf allOf format title strict schema input_schema json_schema
cache_control source data url uri mime_type media_type modality sha256 size detail file_id filename
keys layout extra style arguments_text finish_reason signature redacted is_error refusal annotations
status summary encrypted_content truncated original_bytes attributes time
model temperature top_p top_k max_tokens max_completion_tokens max_output_tokens seed stop stream
stream_options include_usage tool_choice parallel_tool_calls response_format reasoning_effort
reasoning effort n logprobs user metadata store service_tier system messages tools instructions
thinking budget_tokens stop_sequences frequency_penalty presence_penalty
"""

WORDS: Final = frozenset(["", *_GRAMMAR.split(), *_VOCABULARY.split()])
"""Texts of the messages' own grammar and of fixed vocabularies."""

KEYS: Final = frozenset(_KEYS.split())
"""Keys of the messages' and requests' own grammar."""


_OPAQUE: Final[dict[str, frozenset[str]]] = {
    "thoughtSignature": frozenset(),
    "thought_signature": frozenset(),
    "encrypted_content": frozenset(),
    "encrypted_index": frozenset(),
    "signature": frozenset({"reasoning", "thinking", "reasoning.text"}),
    "redacted": frozenset({"reasoning"}),
    "data": frozenset({"redacted_thinking", "reasoning.encrypted"}),
}
"""The list: keys of opaque values, and the types of object that have them (none: all)."""

_WAY: Final = (
    *("parts", "content", "value", "extra", "server_tool_call_response", "citations"),
    *("tool_calls", "reasoning_details", "extra_content", "google", "provider_specific_fields"),
)
"""What leads to them. A tool's arguments and results are not among these."""

_RESULTS: Final = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "custom_tool_call_output"}
)
_MODELS: Final = frozenset({"assistant", "model"})
_VALUE: Final = re.compile(r"[A-Za-z0-9+/_=-]+\Z")
_MAX_DEPTH: Final = 8


def is_models(role: object) -> bool:
    """Whether a message of this role is the model's: nobody else's has a provider's values."""
    return isinstance(role, str) and role in _MODELS


def with_opaque(redacted: Any, before: Any, depth: int = 0) -> Any:
    """What redaction made of a message or its parts, with the opaque values of before."""
    if redacted is before or depth > _MAX_DEPTH:
        return redacted
    items, were = as_list(redacted), as_list(before)
    if items is not None and were is not None and len(items) == len(were):
        return [with_opaque(a, b, depth + 1) for a, b in zip(items, were, strict=True)]
    found, had = as_dict(redacted), as_dict(before)
    if found is None or had is None or ("role" in had and not is_models(had["role"])):
        return redacted
    kind, kept = had.get("type"), dict(found)
    if not isinstance(kind, str):  # a stranger may write anything there
        kind = ""
    if kind in _RESULTS:
        return redacted
    for key, types in _OPAQUE.items():
        value = had.get(key)
        stands = key in found and (not types or kind in types)
        if stands and isinstance(value, str) and _VALUE.match(value):
            kept[key] = value
    for key in _WAY:
        if key in found and key in had:
            kept[key] = with_opaque(found[key], had[key], depth + 1)
    return kept
