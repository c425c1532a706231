-- Which attributes of spans are numbers and booleans. The records keep every attribute as text;
-- these get their type back for Jaeger, and all others stay text.
CREATE OR REPLACE VIEW {jaeger}.attribute_type {on_cluster} AS
SELECT attribute_key, type
FROM
(
    SELECT
        arrayJoin(arrayConcat(
            arrayMap(key -> (key, 'int'), [
                'gen_ai.embeddings.dimension.count',
                'gen_ai.memory.record.count',
                'gen_ai.request.choice.count',
                'gen_ai.request.max_tokens',
                'gen_ai.request.seed',
                'gen_ai.request.top_k',
                'gen_ai.retrieval.top_k',
                'gen_ai.usage.audio.cache_read.input_tokens',
                'gen_ai.usage.audio.input_tokens',
                'gen_ai.usage.audio.output_tokens',
                'gen_ai.usage.cache_read.input_tokens',
                'gen_ai.usage.cache_write.input_tokens',
                'gen_ai.usage.image.cache_read.input_tokens',
                'gen_ai.usage.image.input_tokens',
                'gen_ai.usage.image.output_tokens',
                'gen_ai.usage.input_tokens',
                'gen_ai.usage.output_tokens',
                'gen_ai.usage.reasoning.output_tokens',
                'gen_ai.usage.text.cache_read.input_tokens',
                'gen_ai.usage.text.input_tokens',
                'gen_ai.usage.text.output_tokens',
                'http.request.resend_count',
                'http.response.status_code',
                'server.port',
                'turnspan.consortium.iteration',
                'turnspan.consortium.iterations',
                'turnspan.consortium.role',
                'turnspan.request.tries',
                'turnspan.round',
                'turnspan.turn.llm_calls',
                'turnspan.turn.max_identical_tool_streak',
                'turnspan.turn.max_rounds',
                'turnspan.turn.no_progress_rounds',
                'turnspan.turn.rounds',
                'turnspan.turn.silent_rounds',
                'turnspan.turn.tool_calls',
                'turnspan.turn.tool_errors',
                'turnspan.usage.cache_write_1h.input_tokens',
                'turnspan.usage.web_searches']),
            arrayMap(key -> (key, 'double'), [
                'gen_ai.evaluation.score.value',
                'gen_ai.request.frequency_penalty',
                'gen_ai.request.presence_penalty',
                'gen_ai.request.temperature',
                'gen_ai.request.top_p',
                'gen_ai.response.time_to_first_chunk',
                'turnspan.consortium.confidence']),
            arrayMap(key -> (key, 'bool'), [
                'gen_ai.conversation.compacted',
                'gen_ai.request.stream',
                'turnspan.response.cached',
                'turnspan.tool.failed',
                'turnspan.usage.estimated']))) AS known,
        known.1 AS attribute_key,
        known.2 AS type
)
