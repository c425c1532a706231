"""Every name Turnspan writes on the wire.

The ``gen_ai.*`` names follow the OpenTelemetry GenAI semantic conventions 0.1.0 (development);
there is no released package of constants, so they live here and a test checks them
against the registry. Names without a standard carry the prefix ``turnspan.``.
"""

from __future__ import annotations

from typing import Final

# -- spans: the operation and who performs it
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
CONVERSATION_COMPACTED: Final = "gen_ai.conversation.compacted"
PROMPT_NAME: Final = "gen_ai.prompt.name"
PROMPT_VERSION: Final = "gen_ai.prompt.version"
OUTPUT_TYPE: Final = "gen_ai.output.type"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR_TYPE: Final = "error.type"
USER_ID: Final = "user.id"
SESSION_ID: Final = "session.id"
SESSION_GIVEN: Final = "turnspan.session.id"
"""On another package's span: the session that the application gave, whatever the package names."""

# -- the value of error.type where nothing tells which
ERROR_OTHER: Final = "_OTHER"

# -- values of gen_ai.operation.name
OP_CHAT: Final = "chat"
OP_TEXT_COMPLETION: Final = "text_completion"
OP_GENERATE_CONTENT: Final = "generate_content"
OP_EMBEDDINGS: Final = "embeddings"
OP_FETCH_RESPONSE: Final = "fetch_response"
OP_CANCEL_RESPONSE: Final = "cancel_response"  # of ours: the conventions have none
OP_INVOKE_AGENT: Final = "invoke_agent"
OP_EXECUTE_TOOL: Final = "execute_tool"
OP_INVOKE_WORKFLOW: Final = "invoke_workflow"
INFERENCE_OPERATIONS: Final = frozenset(
    {OP_CHAT, OP_TEXT_COMPLETION, OP_GENERATE_CONTENT, OP_EMBEDDINGS}
)

COMPLETING_OPERATIONS: Final = frozenset({OP_FETCH_RESPONSE, OP_CANCEL_RESPONSE})
"""Operations that may bring the end of a response that was made in the background."""

OP_OTHER: Final = "other"
OTHER_OPERATIONS: Final = frozenset(
    {
        *("image_generation", "speech", "transcription", "translation", "video", "moderation"),
        *("batch", "rerank", "fine_tuning", "realtime", "agent_session", "ocr"),
        *("classification", "evaluation", "search", OP_OTHER),
    }
)
"""What else models are asked for; but for these names, of ours: the conventions have none."""

OUTSIDE_ROUNDS: Final = frozenset({OP_EMBEDDINGS, *COMPLETING_OPERATIONS, *OTHER_OPERATIONS})
"""Operations that are no round of a turn: the model decides nothing in them."""

# -- request
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
REQUEST_TOP_P: Final = "gen_ai.request.top_p"
REQUEST_TOP_K: Final = "gen_ai.request.top_k"
REQUEST_STOP_SEQUENCES: Final = "gen_ai.request.stop_sequences"
REQUEST_FREQUENCY_PENALTY: Final = "gen_ai.request.frequency_penalty"
REQUEST_PRESENCE_PENALTY: Final = "gen_ai.request.presence_penalty"
REQUEST_SEED: Final = "gen_ai.request.seed"
REQUEST_CHOICE_COUNT: Final = "gen_ai.request.choice.count"
REQUEST_STREAM: Final = "gen_ai.request.stream"
REQUEST_REASONING_LEVEL: Final = "gen_ai.request.reasoning.level"
REQUEST_PREVIOUS_RESPONSE_ID: Final = "gen_ai.request.previous_response.id"
REQUEST_STREAM_CURSOR: Final = "gen_ai.request.stream_cursor"
REQUEST_ENCODING_FORMATS: Final = "gen_ai.request.encoding_formats"
EMBEDDINGS_DIMENSION_COUNT: Final = "gen_ai.embeddings.dimension.count"

# -- response
RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_STATUS: Final = "gen_ai.response.status"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
RESPONSE_TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"  # seconds

# -- usage: input_tokens includes cached tokens; cache, reasoning are subsets
USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
USAGE_CACHE_READ_INPUT_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
USAGE_CACHE_WRITE_INPUT_TOKENS: Final = "gen_ai.usage.cache_write.input_tokens"
USAGE_REASONING_OUTPUT_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
INPUT: Final = "input_tokens"
OUTPUT: Final = "output_tokens"
CACHE_READ: Final = "cache_read.input_tokens"
USAGE_BY_MODALITY: Final = {
    (kind, modality): f"{prefix}.usage.{modality}.{kind}"
    for kind in (INPUT, OUTPUT, CACHE_READ)
    for modality, prefix in (
        ("text", "gen_ai"),
        ("image", "gen_ai"),
        ("audio", "gen_ai"),
        ("video", "turnspan"),  # the conventions have no name for it
    )
}
"""Subsets of the counts above, by kind of token and modality."""

# -- content (opt-in on spans; always a JSON string there)
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"

# -- agents, tools, workflows
AGENT_NAME: Final = "gen_ai.agent.name"  # on a workflow's span: the workflow's
AGENT_VERSION: Final = "gen_ai.agent.version"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"

# -- MCP: a tool executed by a server
MCP_METHOD_NAME: Final = "mcp.method.name"
MCP_PROTOCOL_VERSION: Final = "mcp.protocol.version"
JSONRPC_REQUEST_ID: Final = "jsonrpc.request.id"
RPC_RESPONSE_STATUS_CODE: Final = "rpc.response.status_code"

# -- provider refinements
OPENAI_API_TYPE: Final = "openai.api.type"
OPENAI_REQUEST_SERVICE_TIER: Final = "openai.request.service_tier"
OPENAI_RESPONSE_SERVICE_TIER: Final = "openai.response.service_tier"
OPENAI_RESPONSE_SYSTEM_FINGERPRINT: Final = "openai.response.system_fingerprint"

# -- events (log records) and what only they carry
EVENT_INFERENCE_DETAILS: Final = "gen_ai.client.inference.operation.details"
EVENT_EXCEPTION: Final = "gen_ai.client.operation.exception"
EVENT_EVALUATION: Final = "gen_ai.evaluation.result"
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"
EXCEPTION_STACKTRACE: Final = "exception.stacktrace"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"

# -- metrics and what only they carry
METRIC_INFERENCE_DURATION: Final = "gen_ai.client.inference.duration"
METRIC_TIME_TO_FIRST_CHUNK: Final = "gen_ai.client.inference.time_to_first_chunk"
METRIC_TIME_PER_OUTPUT_CHUNK: Final = "gen_ai.client.inference.time_per_output_chunk"
METRIC_INPUT_TOKENS: Final = "gen_ai.client.inference.usage.input_tokens"
METRIC_OUTPUT_TOKENS: Final = "gen_ai.client.inference.usage.output_tokens"
METRIC_CACHE_READ_TOKENS: Final = "gen_ai.client.inference.usage.cache_read.input_tokens"
METRIC_CACHE_WRITE_TOKENS: Final = "gen_ai.client.inference.usage.cache_write.input_tokens"
METRIC_REASONING_TOKENS: Final = "gen_ai.client.inference.usage.reasoning.output_tokens"
METRIC_CALL_INPUT_TOKENS: Final = "gen_ai.client.inference.operation.input_tokens"
METRIC_CALL_OUTPUT_TOKENS: Final = "gen_ai.client.inference.operation.output_tokens"
METRIC_OPERATION_DURATION: Final = "gen_ai.client.operation.duration"
METRIC_AGENT_DURATION: Final = "gen_ai.invoke_agent.duration"
METRIC_AGENT_INFERENCE_CALLS: Final = "gen_ai.invoke_agent.inference_calls"
METRIC_AGENT_TOOL_CALLS: Final = "gen_ai.invoke_agent.tool_calls"
METRIC_TOOL_DURATION: Final = "gen_ai.execute_tool.duration"
METRIC_MCP_CALL_DURATION: Final = "mcp.client.operation.duration"
METRIC_COST: Final = "turnspan.client.cost"
METRIC_QUEUED: Final = "turnspan.pipeline.queued"
METRIC_PENDING: Final = "turnspan.pipeline.pending"
METRIC_EXPORTED: Final = "turnspan.pipeline.exported"
METRIC_SPOOLED: Final = "turnspan.spool.rows"
METRIC_SHIPPED: Final = "turnspan.spool.shipped"
METRIC_REJECTED: Final = "turnspan.spool.rejected"
METRIC_DROPPED: Final = "turnspan.pipeline.dropped"
METRIC_INTERNAL_ERRORS: Final = "turnspan.pipeline.internal_errors"
TOKEN_MODALITY: Final = "gen_ai.token.modality"
DROP_REASON: Final = "turnspan.drop.reason"
ERROR_PLACE: Final = "turnspan.error.place"

# -- names of the conventions 1.41, for dashboards made for them (the setting ``earlier_names``)
EARLIER: Final = {
    AGENT_NAME: "gen_ai.workflow.name",  # of a workflow
    USAGE_CACHE_WRITE_INPUT_TOKENS: "gen_ai.usage.cache_creation.input_tokens",
    METRIC_AGENT_DURATION: "gen_ai.invoke_workflow.duration",  # of a workflow
    METRIC_INFERENCE_DURATION: METRIC_OPERATION_DURATION,
    METRIC_TIME_TO_FIRST_CHUNK: "gen_ai.client.operation.time_to_first_chunk",
    METRIC_TIME_PER_OUTPUT_CHUNK: "gen_ai.client.operation.time_per_output_chunk",
    METRIC_CALL_INPUT_TOKENS: "gen_ai.client.token.usage",
    METRIC_CALL_OUTPUT_TOKENS: "gen_ai.client.token.usage",
}
EARLIER_TOKEN_TYPES: Final = {
    METRIC_CALL_INPUT_TOKENS: {"gen_ai.token.type": "input"},
    METRIC_CALL_OUTPUT_TOKENS: {"gen_ai.token.type": "output"},
}
"""What tells them apart under their earlier name."""

# -- ours: what the conventions have no name for
PROJECT: Final = "turnspan.project"
TURN_ID: Final = "turnspan.turn.id"
TURN_PARENT_ID: Final = "turnspan.turn.parent_id"
TURN_AGENT_VERSION: Final = "turnspan.agent.version"  # gen_ai.agent.version is for remote agents
TURN_MODELS: Final = "turnspan.turn.models"
TURN_STOP_REASON: Final = "turnspan.turn.stop_reason"
TURN_STOP_DETAIL: Final = "turnspan.turn.stop_detail"
TURN_ROUNDS: Final = "turnspan.turn.rounds"
TURN_MAX_ROUNDS: Final = "turnspan.turn.max_rounds"
TURN_LLM_CALLS: Final = "turnspan.turn.llm_calls"
TURN_TOOL_CALLS: Final = "turnspan.turn.tool_calls"
TURN_TOOL_ERRORS: Final = "turnspan.turn.tool_errors"
TURN_SILENT_ROUNDS: Final = "turnspan.turn.silent_rounds"
TURN_MAX_IDENTICAL_TOOL_STREAK: Final = "turnspan.turn.max_identical_tool_streak"
TURN_NO_PROGRESS_ROUNDS: Final = "turnspan.turn.no_progress_rounds"
TURN_INTENT: Final = "turnspan.turn.intent"
TURN_CHAT_MODE: Final = "turnspan.turn.chat_mode"
TURN_TASK_TYPE: Final = "turnspan.turn.task_type"
TURN_TARGET: Final = "turnspan.turn.target"
ROUND: Final = "turnspan.round"
TRIES: Final = "turnspan.request.tries"
STREAM_OUTCOME: Final = "turnspan.stream.outcome"
TOKENS_ESTIMATED: Final = "turnspan.usage.estimated"
USAGE_CACHE_WRITE_1H_INPUT_TOKENS: Final = "turnspan.usage.cache_write_1h.input_tokens"
COMPLETED_USAGE: Final = {
    USAGE_INPUT_TOKENS: "turnspan.completed.input_tokens",
    USAGE_OUTPUT_TOKENS: "turnspan.completed.output_tokens",
    USAGE_CACHE_READ_INPUT_TOKENS: "turnspan.completed.cache_read.input_tokens",
    USAGE_CACHE_WRITE_INPUT_TOKENS: "turnspan.completed.cache_write.input_tokens",
    USAGE_REASONING_OUTPUT_TOKENS: "turnspan.completed.reasoning.output_tokens",
}
"""What a response cost that was made in the background, on the span that brought its end: they are
the tokens of the call that made it."""
BATCH_ID: Final = "turnspan.batch.id"
BATCH_CUSTOM_ID: Final = "turnspan.batch.custom_id"  # of the request in its batch
USAGE_COST: Final = "turnspan.usage.cost"  # in US dollars, as the provider told it
USAGE_WEB_SEARCHES: Final = "turnspan.usage.web_searches"
USAGE_FILE_SEARCHES: Final = "turnspan.usage.file_searches"
USAGE_TOOL_INPUT_TOKENS: Final = "turnspan.usage.tool.input_tokens"  # what its own tools found
USAGE_MAP_SEARCHES: Final = "turnspan.usage.map_searches"
USAGE_IMAGE_GENERATIONS: Final = "turnspan.usage.image_generations"  # by another model, as a tool
RESPONSE_SERVICE_TIER: Final = "turnspan.response.service_tier"  # where it is not OpenAI's
RESPONSE_DETAILS: Final = "turnspan.response.details"  # JSON: what no column and no message has
RESPONSE_SPEED: Final = "turnspan.response.speed"
RESPONSE_CACHED: Final = "turnspan.response.cached"
RESPONSE_REFUSED: Final = "turnspan.response.refused"
RESPONSE_BLANK: Final = "turnspan.response.blank"  # no visible text, where no content tells it
TRUNCATED_PREFIX: Final = "turnspan.truncated."  # and a column's name: its bytes before the cut
STEP_NAME: Final = "turnspan.step.name"
TOOL_FAILED: Final = "turnspan.tool.failed"
TOOL_RESULT_CLASS: Final = "turnspan.tool.result_class"  # where the recorded text cannot tell it
RERUN_ID: Final = "turnspan.rerun.id"
RERUN_OF: Final = "turnspan.rerun.of"  # the session that is played
EXPERIMENT_ID: Final = "turnspan.experiment.id"
LINEAGE_ID: Final = "turnspan.lineage.id"
ROLLOUT_ID: Final = "turnspan.rollout.id"
ATTEMPT_ID: Final = "turnspan.attempt.id"
CYCLE: Final = "turnspan.cycle"
IMPORT_PREFIX: Final = "turnspan.import."  # and a column's name: what its log says beside
CONSORTIUM_ID: Final = "turnspan.consortium.id"
CONSORTIUM_ROLE: Final = "turnspan.consortium.role"
CONSORTIUM_ITERATION: Final = "turnspan.consortium.iteration"
CONSORTIUM_MEMBER: Final = "turnspan.consortium.member"  # the id of the member's or arbiter's span
CONSORTIUM_NAME: Final = "turnspan.consortium.name"
CONSORTIUM_STRATEGY: Final = "turnspan.consortium.strategy"
CONSORTIUM_STATUS: Final = "turnspan.consortium.status"
CONSORTIUM_ITERATIONS: Final = "turnspan.consortium.iterations"
CONSORTIUM_MODEL: Final = "turnspan.consortium.model"
CONSORTIUM_INSTANCE: Final = "turnspan.consortium.instance"
CONSORTIUM_CONFIDENCE: Final = "turnspan.consortium.confidence"  # 0 to 1, as the arbiter says
CONSORTIUM_RANKING: Final = "turnspan.consortium.ranking"  # best first
CONSORTIUM_AGAIN: Final = "turnspan.consortium.needs_iteration"
CONSORTIUM_GROUPED_BY: Final = "turnspan.consortium.grouped_by"  # keys that tied an import's rows
CONSORTIUM_MISSING: Final = "turnspan.consortium.missing_rows"  # how many the log does not have
CONSORTIUM_OUTER: Final = "turnspan.consortium.outer"  # the run that a run is a member of
CONSORTIUM_IDS: Final = frozenset(
    {CONSORTIUM_ID, CONSORTIUM_ROLE, CONSORTIUM_ITERATION, CONSORTIUM_MEMBER}
)
"""What everything inside a consortium run carries."""
LLM_MODEL: Final = "turnspan.llm.model"  # what the package llm calls the model
LLM_RESPONSE_ID: Final = "turnspan.llm.response.id"  # of the row in its log
LLM_CONSORTIUM_ID: Final = "turnspan.llm.consortium.id"  # of the run, in its plugin's tables
CODING_TOOL: Final = "turnspan.coding.tool"  # the coding agent's kind, as `turnspan import` has it
CODING_MESSAGE_ID: Final = "turnspan.coding.message_id"  # the prompt's own
CODING_TITLE: Final = "turnspan.coding.title"  # the session's
CODING_FORKED_FROM: Final = "turnspan.coding.forked_from"  # the session that it goes on with
CODING_USAGE_INCOMPLETE: Final = "turnspan.coding.usage_incomplete"  # the tool never had the end
CODING_REPLY_UNKNOWN: Final = "turnspan.coding.reply_unknown"  # only its tokens are recorded
CODING_COMPACTION_TRIGGER: Final = "turnspan.coding.compaction.trigger"  # auto or manual
CODING_COMPACTION_TOKENS: Final = "turnspan.coding.compaction.tokens_before"
CODING_TELEMETRY: Final = "turnspan.coding.telemetry"  # it completes a transcript's records
CODING_METRIC: Final = "turnspan.coding.metric"  # what a coding agent counts in a session
CODING_METRIC_VALUE: Final = "turnspan.coding.metric.value"
CODING_METRIC_SERIES: Final = "turnspan.coding.metric.series"  # its greatest value counts
CODING_DECISION: Final = "turnspan.coding.decision"  # of a tool before it ran: accept or reject
CODING_DECISION_SOURCE: Final = "turnspan.coding.decision.source"  # who decided: user, config, ...
CODING_DECISIONS: Final = (CODING_DECISION, CODING_DECISION_SOURCE)
CONTEXT_ID: Final = "turnspan.context.id"  # of a call: those that it used, with commas between
CONTEXT_TASK: Final = "turnspan.context.task"
CONTEXT_BUDGET: Final = "turnspan.context.budget"  # tokens
CONTEXT_BYPASS_REASON: Final = "turnspan.context.bypass_reason"

# -- where a coding agent works
WORKING_DIRECTORY: Final = "process.working_directory"
VCS_REPOSITORY_URL: Final = "vcs.repository.url.full"
VCS_REPOSITORY_NAME: Final = "vcs.repository.name"
VCS_HEAD_NAME: Final = "vcs.ref.head.name"
VCS_HEAD_REVISION: Final = "vcs.ref.head.revision"

# -- resource
SERVICE_NAME: Final = "service.name"
DEPLOYMENT_ENVIRONMENT: Final = "deployment.environment.name"

# -- instrumentation scopes of ours: their spans carry content in the ledger
SCOPE_PREFIX: Final = "turnspan"
SCOPE_DECORATORS: Final = "turnspan"
SCOPE_OPENAI: Final = "turnspan.openai"
SCOPE_ANTHROPIC: Final = "turnspan.anthropic"
SCOPE_GOOGLE_GENAI: Final = "turnspan.google_genai"
SCOPE_LITELLM: Final = "turnspan.litellm"
SCOPE_LLM: Final = "turnspan.llm"
SCOPE_MCP: Final = "turnspan.mcp"
SCOPE_MANUAL: Final = "turnspan.inference"
SCOPE_WIRE: Final = "turnspan.wire"
