-- First which turns they are, with what it takes to tell; the rest is read for those few only.
WITH page AS
    (
        SELECT start_time FROM {turns} AS t
        WHERE {where} AND {_recent} {older}
        ORDER BY {order}
        LIMIT {limit:UInt32}
    )
SELECT
    start_time AS time, {place} AS place,
    session_id AS session, turn_id AS turn, agent_name AS agent, agent_version AS version,
    {columns},
    {how_ended} AS ended, leftUTF8(t.stop_detail, 240) AS detail,
    llm_call_count AS calls, tool_call_count AS tools, tool_error_count AS failed_tools,
    leftUTF8(user_message, 240) AS said, leftUTF8(response_text, 240) AS reply
FROM {turns} AS t
WHERE start_time IN (SELECT start_time FROM page) AND {where}
    AND {_recent} {older}
ORDER BY {order}
LIMIT {limit:UInt32}
