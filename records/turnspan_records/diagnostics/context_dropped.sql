-- title: What contexts leave out
-- question: Which items do assembled contexts drop most, and why?
-- remedy: If the budget drops much, raise it or shorten texts; `context_outcomes` shows whether turns that lost items end worse.
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
