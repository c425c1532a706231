-- Turns in which the user said the same are few; of those, the ones that began with the same prompt.
SELECT turn_id
FROM
(
    SELECT turn_id, min(start_time) AS began, {_prompt} AS prompt
    FROM llm_call
    WHERE project = {project:String} AND turn_id IN
    (
        SELECT turn_id FROM turn_summary
        WHERE project = {project:String} AND parent_turn_id = '' AND user_message IN
            (SELECT user_message FROM turn_summary
            WHERE project = {project:String} AND turn_id = {turn:String} AND user_message != '')
        ORDER BY start_time DESC, turn_id
        LIMIT {limit:UInt32}
    )
    GROUP BY turn_id
)
WHERE notEmpty(prompt.3) AND prompt =
    (SELECT {_prompt} FROM llm_call WHERE project = {project:String} AND turn_id = {turn:String})
ORDER BY began DESC, turn_id
