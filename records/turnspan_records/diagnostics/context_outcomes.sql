-- title: Turns that lost a part of their context
-- question: Do turns whose context lost an item end worse than turns whose context did not?
-- remedy: If the 95 % interval of the difference is above zero, give that section or page more room. This proves no cause: long questions may both lose more and end worse.
WITH
    considered AS
    (
        SELECT
            cityHash64(project, turn_id) AS turn_key,
            section,
            item_id,
            reason,
            NOT kept AS left_out,
            -- A duplicate is no loss: its text is there under another name.
            NOT kept AND reason != 'duplicate' AS gone
        FROM context_item
        WHERE turn_id != ''
            AND {chosen:start_time}
    ),
    -- What there are rows of: a bit each in the numbers below, since texts would be as many more values a
    -- turn as it has items. The 60 most usual sections and reasons, and the items that are lost most.
    (SELECT groupArray(section) FROM (SELECT section FROM considered GROUP BY section ORDER BY count() DESC, section LIMIT 60)) AS sections,
    (SELECT groupArray(reason) FROM (SELECT reason FROM considered WHERE left_out AND reason != '' GROUP BY reason ORDER BY count() DESC, reason LIMIT 60)) AS reasons,
    (SELECT groupArray(item_id) FROM (SELECT item_id FROM considered WHERE gone GROUP BY item_id ORDER BY count() DESC, item_id LIMIT least({limit:UInt32}, 60))) AS items,
    arrayMap(one -> cityHash64(one), items) AS item_keys,
    contexts AS
    (
        SELECT
            turn_key,
            max(gone) AS lost,
            groupBitOr(section_bit) AS had_sections,
            groupBitOr(if(gone, section_bit, 0)) AS lost_sections,
            groupBitOr(item_bit) AS had_items,
            groupBitOr(if(gone, item_bit, 0)) AS lost_items,
            groupBitOr(if(left_out, bitShiftLeft(toUInt64(1), indexOf(reasons, reason)), 0)) AS lost_reasons
        FROM
        (
            SELECT
                *,
                bitShiftLeft(toUInt64(1), indexOf(sections, section)) AS section_bit,
                bitShiftLeft(toUInt64(1), indexOf(item_keys, cityHash64(item_id))) AS item_bit
            FROM considered
        )
        GROUP BY turn_key
    ),
    -- Badly: rejected by a person; of a turn that nobody has judged, for another reason than being done.
    -- A turn begins before its contexts, hardly by more than a day.
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
        WHERE status = 'final'
            AND ({project:String} = '' OR project = {project:String})
            AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 1 DAY)
            AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR start_time < {until:DateTime64(9, 'UTC')})
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
        FROM ended INNER JOIN contexts USING (turn_key)
        ARRAY JOIN arrayConcat(
            [('any item', '', toUInt8(lost))],
            arrayMap(at -> ('section', sections[at], bitTest(lost_sections, at)), arrayFilter(at -> bitTest(had_sections, at), arrayEnumerate(sections))),
            arrayMap(at -> ('item', items[at], bitTest(lost_items, at)), arrayFilter(at -> bitTest(had_items, at), arrayEnumerate(items))),
            arrayMap(at -> ('reason', reasons[at], toUInt8(1)), arrayFilter(at -> bitTest(lost_reasons, at), arrayEnumerate(reasons)))
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
