-- title: What context budgets go to
-- question: Which sections of assembled contexts take the tokens, and which lose items most?
-- remedy: Limit a large section that is rarely needed; do not fetch items that are always dropped. `turnspan context ID` shows one context.
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
