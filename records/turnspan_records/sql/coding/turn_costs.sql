-- The turns of sessions: the turn around each, and what it cost.
SELECT turn_id, parent_turn_id, cost_usd FROM turn_summary
WHERE session_id IN {sessions:Array(String)} AND startsWith(scope_name, 'turnspan.import.')
