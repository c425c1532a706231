-- title: Versions
-- question: Which version of an agent scores better, costs less, answers sooner and ends well?
-- remedy: Trust a difference only if the 95 % intervals lie apart; they need five values. `turnspan lineage` shows what changed between two versions, `turnspan compare` shows their answers. If scores are missing here, `turnspan diagnose orphaned_annotations` has those of records that never landed.
WITH
    -- Half of each interval: Student's t for n values, to a hundredth from five values on (Cornish and Fisher's series).
    arrayMap(
        (n, deviation) -> if(n < 5, NULL, deviation / sqrt(n)
            * (1.95996 + 2.37227 / (n - 1) + 2.8225 / pow(n - 1, 2) + 2.5558 / pow(n - 1, 3))),
        [toFloat64(s.judged), toFloat64(v.priced), toFloat64(v.counted), toFloat64(v.turns)],
        [toNullable(s.deviation), v.cost_deviation, v.tokens_deviation, v.seconds_deviation]) AS half,
    scored AS
    (
        SELECT project, version, count() AS judged, avg(unit_score) AS score, stddevSamp(unit_score) AS deviation
        FROM
        (
            SELECT project, version, unit,
                if(countIf(kind = 'score') > 0, avgIf(given, kind = 'score'), avg(given)) AS unit_score
            FROM
            (
                SELECT project, version_id AS version, unit, kind, result_score.score AS given
                FROM result_score
                WHERE version_id != ''
                UNION ALL
                SELECT a.project, toString(t.agent_version), a.subject_id, a.kind, a.given
                FROM
                (
                    SELECT project, subject_id, toString(kind) AS kind, assumeNotNull(score) AS given
                    FROM annotation_current
                    WHERE subject_kind = 'turn' AND isNotNull(score)
                        AND (kind = 'score' OR startsWith(kind, 'evaluation:'))
                ) AS a
                INNER JOIN
                (
                    SELECT project, turn_id, agent_version
                    FROM turn_summary
                    WHERE agent_version != ''
                        AND turn_id IN (SELECT subject_id FROM annotation WHERE subject_kind = 'turn')
                ) AS t ON t.project = a.project AND t.turn_id = a.subject_id
            )
            GROUP BY project, version, unit
        )
        GROUP BY project, version
    )
SELECT
    v.project AS project,
    v.agent AS agent,
    substring(v.agent_version, 1, 12) AS version,
    v.turns AS turns,
    s.judged AS judged,
    if(s.judged = 0, NULL, round(s.score, 2)) AS score,
    round(s.score - half[1], 2) AS score_low,
    round(s.score + half[1], 2) AS score_high,
    v.cost AS cost_usd,
    v.cost - half[2] AS cost_low_usd,
    v.cost + half[2] AS cost_high_usd,
    round(v.tokens) AS tokens,
    round(v.tokens - half[3]) AS tokens_low,
    round(v.tokens + half[3]) AS tokens_high,
    v.seconds AS avg_seconds,
    v.seconds - half[4] AS low_seconds,
    v.seconds + half[4] AS high_seconds,
    v.p95 AS p95_seconds,
    v.completed / v.turns AS completed_rate,
    -- Wilson's interval.
    if(v.turns < 5, NULL, greatest(0, (completed_rate + 1.9207 / v.turns - 1.95996 * sqrt(
        completed_rate * (1 - completed_rate) / v.turns + 0.9604 / pow(v.turns, 2))) / (1 + 3.8415 / v.turns))) AS completed_low_rate,
    if(v.turns < 5, NULL, least(1, (completed_rate + 1.9207 / v.turns + 1.95996 * sqrt(
        completed_rate * (1 - completed_rate) / v.turns + 0.9604 / pow(v.turns, 2))) / (1 + 3.8415 / v.turns))) AS completed_high_rate,
    v.reasons AS stop_reasons,
    v.first_time AS first_time
FROM
(
    SELECT
        project,
        agent_name AS agent,
        toString(agent_version) AS agent_version,
        sum(n) AS turns,
        sumIf(n, reason = 'completed') AS completed,
        arrayStringConcat(arrayMap(one -> concat(one.2, ' ', toString(one.1)),
            arrayReverseSort(groupArray((n, reason)))), ', ') AS reasons,
        min(first) AS first_time,
        sum(money) / nullIf(sum(money_n), 0) AS cost,
        sum(money_n) AS priced,
        sqrt(greatest(0, sum(money2) - sum(money_n) * pow(cost, 2)) / nullIf(sum(money_n) - 1, 0)) AS cost_deviation,
        sum(used) / nullIf(sum(used_n), 0) AS tokens,
        sum(used_n) AS counted,
        sqrt(greatest(0, sum(used2) - sum(used_n) * pow(tokens, 2)) / nullIf(sum(used_n) - 1, 0)) AS tokens_deviation,
        sum(took) / turns AS seconds,
        sqrt(greatest(0, sum(took2) - turns * pow(seconds, 2)) / nullIf(turns - 1, 0)) AS seconds_deviation,
        quantileMerge(0.95)(slow) AS p95
    FROM
    (
        SELECT
            project,
            agent_name,
            agent_version,
            if(status = 'final', substringIndex(t.stop_reason, ':', 1), toString(t.status)) AS reason,
            count() AS n,
            min(start_time) AS first,
            sum(toFloat64(t.cost_usd)) AS money,
            sum(pow(toFloat64(t.cost_usd), 2)) AS money2,
            count(t.cost_usd) AS money_n,
            sum(toFloat64(t.input_tokens + t.output_tokens)) AS used,
            sum(pow(toFloat64(t.input_tokens + t.output_tokens), 2)) AS used2,
            count(t.input_tokens + t.output_tokens) AS used_n,
            sum(t.duration) AS took,
            sum(pow(t.duration, 2)) AS took2,
            quantileState(0.95)(t.duration) AS slow
        FROM turn_summary AS t
        WHERE agent_version != '' AND status != 'running'
            AND {chosen:start_time}
        GROUP BY project, agent_name, agent_version, reason
    )
    GROUP BY project, agent, agent_version
) AS v
LEFT JOIN scored AS s ON s.project = v.project AND s.version = v.agent_version
ORDER BY project, agent, first_time, version
LIMIT {limit:UInt32}
