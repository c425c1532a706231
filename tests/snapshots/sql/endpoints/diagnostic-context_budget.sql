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
 SELECT
  section,
  assembly_id,
  kept,
  tokens AS item_tokens
 FROM context_item
 WHERE (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
)
GROUP BY section
ORDER BY
 tokens DESC,
 section ASC
LIMIT {limit:UInt32};
