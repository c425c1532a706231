"""Words that the application's redact hook is not asked about: grammar and fixed vocabularies.

Masking one of them would hide nobody's secret and break what reads the records: a message without
its ``role``, a call without its operation. The built-in masks look at them all the same.
"""

from __future__ import annotations

from typing import Final

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
user_aborted round_cap tool_failure silent_rounds empty_no_tools running final interrupted
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
