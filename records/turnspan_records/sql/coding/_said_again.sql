-- Prompts that were said nearly alike: each goes with the most frequent one with which it shares
-- two thirds of their words.
SELECT
    argMax(example, (times, example)) AS prompt,
    sum(times) AS said,
    length(groupUniqArrayArray(200)(sessions)) AS in_sessions,
    max(last) AS last_time,
    argMax(turn, (last, turn)) AS last_turn,
    sum(cost) AS cost_of_all,
    max(complaint) = 1 AS correction
FROM
(
    SELECT any(one.times) AS times, any(one.example) AS example, any(one.sessions) AS sessions,
        any(one.last) AS last, any(one.turn) AS turn, any(one.cost) AS cost,
        any(one.complaint) AS complaint,
        argMax(other.words, (other.times, other.words)) AS leader
    FROM ({_prompts}) AS one
    CROSS JOIN ({_prompts}) AS other
    WHERE length(arrayIntersect(one.words, other.words)) * 3
        >= length(arrayDistinct(arrayConcat(one.words, other.words))) * 2
    GROUP BY one.words
)
GROUP BY leader
HAVING said > 1
