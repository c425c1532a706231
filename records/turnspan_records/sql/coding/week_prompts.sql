-- title: Prompts said again and again
-- question: What did people say more than once, in nearly the same words?
-- remedy: Say it once, in the instructions file or in a command of the tool.
SELECT said AS times, in_sessions AS sessions, prompt AS user_message, CAST(correction, 'Bool') AS correction, cost_of_all AS cost_usd, last_time, last_turn AS turn
FROM
(
    {_said_again}
)
ORDER BY times DESC, last_time DESC, turn
LIMIT {limit:UInt32}
