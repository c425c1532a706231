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
 SELECT
  reason,
  section,
  item_id,
  assembly_id,
  start_time,
  tokens AS item_tokens
 FROM context_item
 WHERE (NOT kept) AND (({project:String} = '') OR (project = {project:String})) AND (({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00') OR (start_time >= {since:DateTime64(9, 'UTC')})) AND (({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00') OR (start_time < {until:DateTime64(9, 'UTC')}))
)
GROUP BY
 reason,
 section
ORDER BY
 items DESC,
 reason ASC,
 section ASC
LIMIT {limit:UInt32};
