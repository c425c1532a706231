-- One row per consortium run: its members and answers, what the arbiter decided, what it cost.
--
-- First one row for each member, arbiter and other call of a run, then one for each run. So no
-- expression holds the texts of a whole run but the one that compares the last answers. Where nobody
-- told of a member or an arbiter (its process died), its calls do.
--
-- Which calls are of runs, narrow columns say first: under FINAL all others are read together.
--
-- `agreement` is the mean, over all pairs of the last iteration's answers, of 1 - ngramDistance: of how
-- many of their four-byte pieces two texts have in common. Blanks around them give short answers such
-- pieces; of longer ones than ngramDistance takes (32 KiB) the beginning is compared.
--
-- Where iterations are numbered, a call of role 0 that is in none and of no member is the output of the
-- run: that of a consortium that is asked as a model is.
CREATE OR REPLACE VIEW {database}.consortium_run {on_cluster} AS
WITH
    arraySort(groupArrayIf((block_iteration, block_start, block_id), kind = 'arbiter')) AS deciding,
    -- Of an arbiter that was asked again, only the last time.
    arrayMap(one -> one.3, arrayFilter((one, after) -> one.1 != after, deciding,
        arrayShiftLeft(arrayMap(one -> toInt64(one.1), deciding), 1, toInt64(-1)))) AS arbiters,
    groupArrayIf((block_id, block_ranking), kind = 'arbiter') AS rankings,
    arrayFilter(ranking -> notEmpty(ranking), arrayMap(
        id -> arrayFirst(one -> one.1 = id, rankings).2, arbiters)) AS ranked,
    groupArrayIf((block_id, (block_confidence, block_model)), kind = 'arbiter') AS opinions,
    max(block_iteration) > 0 AS numbered,
    maxIf(block_iteration, kind = 'member') AS last_iteration,
    trimBoth(block_answer, ' \t\r\n') AS trimmed,
    groupArrayIf((block_iteration, concat('   ', substring(trimmed, 1, 32000), '   ')),
        kind = 'member' AND trimmed != '') AS answered,
    arraySort(arrayMap(one -> one.2, arrayFilter(one -> one.1 = last_iteration, answered))) AS compared
SELECT
    project,
    consortium_id,
    max(run_name) AS name,
    max(run_strategy) AS strategy,
    max(run_status) AS status,
    max(run_source) AS source,
    min(block_start) AS started_at,
    max(run_duration) AS duration,
    max(run_session) AS session_id,
    max(run_turn) AS turn_id,
    max(run_trace) AS trace_id,
    max(run_outer) AS outer_id,
    greatest(max(run_iterations), max(block_iteration)) AS iterations,
    arraySort(if(numbered, groupUniqArrayIf(block_label, kind = 'member' AND NOT block_unplaced),
        groupUniqArrayIf(block_label, kind = 'member'))) AS members,
    if(numbered, countIf(kind = 'member' AND NOT block_unplaced), countIf(kind = 'member')) AS answers,
    if(numbered, countIf(kind = 'member' AND block_failed AND NOT block_unplaced),
        countIf(kind = 'member' AND block_failed)) AS failed_answers,
    if(empty(arbiters), '', arrayFirst(one -> one.1 = arbiters[-1], opinions).2.2) AS arbiter,
    if(empty(ranked), '', ranked[-1][1]) AS winner,
    if(empty(ranked), [], ranked[-1]) AS ranking,
    arrayMap(id -> arrayFirst(one -> one.1 = id, opinions).2.1, arbiters) AS confidences,
    if(empty(confidences), NULL, confidences[-1]) AS confidence,
    sum(block_calls) AS calls,
    sum(block_input) AS input_tokens,
    sum(block_output) AS output_tokens,
    sum(block_cost) AS cost_usd,
    sum(block_unpriced) AS unpriced,
    if(numbered, argMaxIf(block_label, block_seconds, kind = 'member' AND NOT block_unplaced),
        argMaxIf(block_label, block_seconds, kind = 'member')) AS longest_member,
    if(numbered, maxIf(block_seconds, kind = 'member' AND NOT block_unplaced),
        maxIf(block_seconds, kind = 'member')) AS longest_member_seconds,
    toUInt32(length(compared)) AS compared_answers,
    if(length(compared) < 2, NULL, arrayAvg(arrayFlatten(arrayMap(
        (text, place) -> arrayMap(other -> 1 - ngramDistance(text, other),
            arraySlice(compared, place + 1)),
        compared, arrayEnumerate(compared))))) AS agreement,
    max(run_error) AS error_type
FROM
(
    SELECT
        project,
        consortium_id,
        block AS block_id,
        multiIf(block = '', 'run', max(is_member), 'member', max(is_arbiter), 'arbiter', 'other') AS kind,
        max(of_iteration) AS block_iteration,
        min(at) AS block_start,
        if(max(of_model) = '', argMaxIf(asked, at, is_call), max(of_model)) AS block_model,
        if(max(label) = '', block_model, max(label)) AS block_label,
        if(max(said) = '', argMaxIf(replied, at, replied != ''), max(said)) AS block_answer,
        if(max(lasted) = 0, sum(call_lasted), max(lasted)) AS block_seconds,
        max(failed) AS block_failed,
        max(unplaced) AND max(of_iteration) = 0 AS block_unplaced,
        anyIf(decided_ranking, notEmpty(decided_ranking)) AS block_ranking,
        any(decided_confidence) AS block_confidence,
        countIf(is_call) AS block_calls,
        sum(tokens_in) AS block_input,
        sum(tokens_out) AS block_output,
        sum(cost) AS block_cost,
        countIf(is_call AND isNull(cost)) AS block_unpriced,
        max(r_name) AS run_name,
        max(r_strategy) AS run_strategy,
        max(r_status) AS run_status,
        max(r_source) AS run_source,
        max(r_duration) AS run_duration,
        max(r_session) AS run_session,
        max(r_turn) AS run_turn,
        max(r_trace) AS run_trace,
        max(r_outer) AS run_outer,
        max(r_iterations) AS run_iterations,
        max(r_error) AS run_error
    FROM
    (
        SELECT
            project, consortium_id, '' AS block, false AS is_member, false AS is_arbiter,
            false AS is_call, toUInt32(0) AS of_iteration, started_at AS at, '' AS of_model,
            '' AS asked, '' AS label, '' AS said, '' AS replied, toFloat64(0) AS lasted,
            toFloat64(0) AS call_lasted, false AS failed, CAST([] AS Array(String)) AS decided_ranking,
            CAST(NULL AS Nullable(Float64)) AS decided_confidence,
            CAST(NULL AS Nullable(UInt64)) AS tokens_in, CAST(NULL AS Nullable(UInt64)) AS tokens_out,
            CAST(NULL AS Nullable(Decimal(18, 12))) AS cost,
            toString(c.name) AS r_name, toString(c.strategy) AS r_strategy,
            toString(c.status) AS r_status, toString(c.source) AS r_source, c.duration AS r_duration,
            c.session_id AS r_session, c.turn_id AS r_turn, c.trace_id AS r_trace,
            c.outer_id AS r_outer, c.iterations AS r_iterations, toString(c.error_type) AS r_error,
            false AS unplaced
        FROM {database}.consortium AS c FINAL
        UNION ALL
        SELECT
            project, consortium_id, member_id, true, false, false, iteration, started_at,
            toString(model), '', concat(toString(model), if(instance = '', '', '#'), instance), answer,
            '', m.duration, 0, error_type != '', [], NULL, NULL, NULL, NULL,
            '', '', '', '', 0, '', '', '', '', 0, '', false
        FROM {database}.consortium_member AS m FINAL
        UNION ALL
        SELECT
            project, consortium_id, arbiter_id, false, true, false, iteration, started_at,
            toString(model), '', '', '', '', i.duration, 0, error_type != '', ranking,
            i.confidence, NULL, NULL, NULL,
            '', '', '', '', 0, '', '', '', '', 0, '', false
        FROM {database}.consortium_iteration AS i FINAL
        UNION ALL
        SELECT
            project, consortium_id,
            if(attributes['turnspan.consortium.member'] = '', span_id,
                attributes['turnspan.consortium.member']),
            -- The output of a run in another tool's log has a member's role, and is of iteration 0.
            ifNull(consortium_role = 0, false) AND attributes['turnspan.consortium.iteration'] != '0',
            ifNull(consortium_role IN (1, 2), false), true,
            toUInt32OrZero(attributes['turnspan.consortium.iteration']), start_time,
            '', toString(request_model), '', '', response_text, 0, l.duration, false, [], NULL,
            l.input_tokens, l.output_tokens, l.cost_usd,
            '', '', '', '', 0, '', '', '', '', 0, '',
            ifNull(consortium_role = 0, false) AND attributes['turnspan.consortium.member'] = ''
        FROM {database}.llm_call AS l FINAL
        WHERE consortium_id != ''
            AND start_time IN (SELECT start_time FROM {database}.llm_call WHERE consortium_id != '')
        SETTINGS do_not_merge_across_partitions_select_final = 1
    )
    GROUP BY project, consortium_id, block
)
GROUP BY project, consortium_id
