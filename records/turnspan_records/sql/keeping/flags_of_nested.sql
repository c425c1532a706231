-- A turn has the flag of the turn that it is nested in.
{_mark}, f.reason, {_turn}
FROM (SELECT project, turn_id, parent_turn_id FROM {turns} WHERE parent_turn_id != '') AS t
GLOBAL INNER JOIN ({units}) AS f ON f.key = sipHash128(t.project, t.parent_turn_id)
WHERE {_unflagged}
