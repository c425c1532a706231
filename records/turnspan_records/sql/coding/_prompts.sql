-- The 1,000 most frequent prompts by their words of three letters or more; one of three words or
-- fewer says nothing of its own.
SELECT
    arraySort(arrayDistinct(extractAll(lowerUTF8(leftUTF8(user_message, 2000)), '\\p{L}{3,}'))) AS words,
    count() AS times,
    min(leftUTF8(user_message, 240)) AS example,
    groupUniqArray(200)(session_id) AS sessions,
    max(start_time) AS last,
    argMax(turn_id, (start_time, turn_id)) AS turn,
    sum(t.cost_usd) AS cost,
    max({complains}) AS complaint
FROM turn_summary AS t
WHERE parent_turn_id = '' AND user_message != ''
    AND {chosen:start_time}
GROUP BY words
HAVING length(words) > 3
ORDER BY times DESC, last DESC, words
LIMIT 1000
