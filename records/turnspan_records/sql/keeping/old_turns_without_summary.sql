{_mark}, 'unassessed', {_turn}
FROM {rows}
WHERE turn_id != '' AND {_old} AND {_turn} GLOBAL NOT IN
    (SELECT {_turn} FROM {turns} WHERE {_turn} GLOBAL IN
        (SELECT {_turn} FROM {rows} WHERE turn_id != '' AND {_old}))
    AND {_turn} GLOBAL NOT IN ({taken}) AND {_turn} GLOBAL NOT IN ({flagged})
