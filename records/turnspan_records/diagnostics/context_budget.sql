-- title: What context budgets go to
-- question: Which sections of assembled contexts take the tokens, and which lose items most?
-- remedy: A section that takes most and is rarely needed gets a limit of its own; what is dropped all the time need not be fetched. `turnspan context ID` shows one context.
SELECT
    if(section = '', '(none)', section) AS section,
    uniqCombined(assembly_id) AS contexts,
    countIf(kept) AS kept_items,
    sumIf(assumeNotNull(item_tokens), kept) AS tokens,
    tokens / sum(tokens) OVER () AS token_share,
    tokens / uniqCombinedIf(assembly_id, kept) AS tokens_each,
    countIf(NOT kept) AS dropped_items,
    sumIf(assumeNotNull(item_tokens), NOT kept) AS dropped_tokens,
    dropped_items / count() AS dropped_rate
FROM
(
    SELECT section, assembly_id, kept, tokens AS item_tokens
    FROM context_item
    WHERE {chosen:start_time}
)
GROUP BY section
ORDER BY tokens DESC, section
LIMIT {limit:UInt32}
