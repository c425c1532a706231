-- title: Turns that lost a part of their context
-- question: Do turns whose context lost an item end worse than turns whose context did not?
-- remedy: Where the difference is worse than nothing (its 95 % interval is above zero), give that section or page more room. It compares turns, it does not prove a cause: long questions may both lose more and end worse.
WITH
    considered AS
    (
        SELECT cityHash64(project, turn_id) AS turn_key, section, item_id, reason, kept
        FROM context_item
        WHERE turn_id != ''
            AND ({project:String} = '' OR project = {project:String})
        AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {since:DateTime64(9, 'UTC')})
        AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR start_time < {until:DateTime64(9, 'UTC')})
    ),
    -- The items that are lost most; all of them would be a row each.
    usual AS
    (
        SELECT item_id FROM considered
        WHERE NOT kept AND reason != 'duplicate'
        GROUP BY item_id
        ORDER BY count() DESC, item_id
        LIMIT {limit:UInt32}
    ),
    -- A duplicate is no loss: its text is there under another name.
    contexts AS
    (
        SELECT
            turn_key,
            max(NOT kept AND reason != 'duplicate') AS lost,
            groupUniqArray(section) AS sections,
            groupUniqArrayIf(section, NOT kept AND reason != 'duplicate') AS lost_sections,
            groupUniqArrayIf(item_id, item_id IN (SELECT item_id FROM usual)) AS items,
            groupUniqArrayIf(item_id, NOT kept AND reason != 'duplicate' AND item_id IN (SELECT item_id FROM usual)) AS lost_items,
            groupUniqArrayIf(reason, NOT kept AND reason != '') AS reasons
        FROM considered
        GROUP BY turn_key
    ),
    -- Badly: rejected by a person; of a turn that nobody has judged, for another reason than being done.
    ended AS
    (
        SELECT
            cityHash64(project, turn_id) AS turn_key,
            multiIf(
                turn_id IN (SELECT subject_id FROM annotation_current WHERE subject_kind = 'turn' AND kind = 'outcome' AND outcome = 'rejected'), 1,
                turn_id IN (SELECT subject_id FROM annotation_current WHERE subject_kind = 'turn' AND kind = 'outcome' AND outcome IN ('used', 'modified')), 0,
                t.stop_reason != 'completed'
            ) AS badly
        FROM turn_summary AS t
        WHERE status = 'final' AND turn_key IN (SELECT turn_key FROM contexts)
    ),
    counted AS
    (
        SELECT
            told.1 AS what,
            told.2 AS name,
            countIf(told.3 = 1) AS lost_turns,
            countIf(told.3 = 1 AND badly) AS lost_badly,
            count() AS all_turns,
            countIf(badly) AS all_badly
        FROM contexts INNER JOIN ended USING (turn_key)
        ARRAY JOIN arrayConcat(
            [('any item', '', toUInt8(lost))],
            arrayMap(one -> ('section', one, toUInt8(has(lost_sections, one))), sections),
            arrayMap(one -> ('item', one, toUInt8(has(lost_items, one))), items),
            arrayMap(one -> ('reason', one, toUInt8(1)), reasons)
        ) AS told
        GROUP BY what, name
    ),
    -- Of a reason: all turns that did not lose anything for it.
    sides AS
    (
        SELECT
            what,
            name,
            lost_turns,
            lost_badly,
            if(what = 'reason', maxIf(all_turns, what = 'any item') OVER (), all_turns) - lost_turns AS other_turns,
            if(what = 'reason', maxIf(all_badly, what = 'any item') OVER (), all_badly) - lost_badly AS other_badly
        FROM counted
    ),
    -- Newcombe's interval of the difference, of Wilson's two: right for few and for extreme rates, too.
    intervals AS
    (
        SELECT
            *,
            lost_badly / lost_turns AS p,
            other_badly / other_turns AS q,
            3.841458820694124 AS zz,
            (p + zz / (2 * lost_turns)) / (1 + zz / lost_turns) AS p_middle,
            sqrt(zz) * sqrt(p * (1 - p) / lost_turns + zz / (4 * lost_turns * lost_turns)) / (1 + zz / lost_turns) AS p_half,
            (q + zz / (2 * other_turns)) / (1 + zz / other_turns) AS q_middle,
            sqrt(zz) * sqrt(q * (1 - q) / other_turns + zz / (4 * other_turns * other_turns)) / (1 + zz / other_turns) AS q_half,
            lost_turns >= 30 AND other_turns >= 30 AS enough,
            if(enough, p - q, NULL) AS difference,
            if(enough, p - q - sqrt(pow(p - (p_middle - p_half), 2) + pow(q_middle + q_half - q, 2)), NULL) AS low,
            if(enough, p - q + sqrt(pow(p_middle + p_half - p, 2) + pow(q - (q_middle - q_half), 2)), NULL) AS high
        FROM sides
        WHERE lost_turns > 0
    )
SELECT
    what AS lost,
    name,
    lost_turns,
    if(lost_turns = 0, NULL, p) AS lost_bad_rate,
    other_turns,
    if(other_turns = 0, NULL, q) AS other_bad_rate,
    difference AS difference_rate,
    low AS low_rate,
    high AS high_rate,
    multiIf(NOT enough, 'too few turns', low > 0, 'worse', high < 0, 'better', 'no difference shown') AS verdict
FROM intervals
ORDER BY enough DESC, low_rate DESC, lost_turns DESC, lost, name
LIMIT {limit:UInt32}
