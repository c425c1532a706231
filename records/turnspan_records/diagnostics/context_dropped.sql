-- title: What contexts leave out
-- question: What is trimmed from assembled contexts most, and for which reason?
-- remedy: Much that is dropped for the budget asks for a larger one or for shorter texts; `context_outcomes` says whether the turns that lost it end worse.
SELECT
    if(reason = '', '(not decided)', reason) AS reason,
    if(section = '', '(none)', section) AS section,
    count() AS items,
    sum(assumeNotNull(item_tokens)) AS tokens,
    uniqCombined(assembly_id) AS contexts,
    leftUTF8(arrayStringConcat(topK(3)(item_id), ', '), 240) AS usual_items,
    max(start_time) AS last_time
FROM
(
    SELECT reason, section, item_id, assembly_id, start_time, tokens AS item_tokens
    FROM context_item
    WHERE NOT kept
        AND {chosen:start_time}
)
GROUP BY reason, section
ORDER BY items DESC, reason, section
LIMIT {limit:UInt32}
