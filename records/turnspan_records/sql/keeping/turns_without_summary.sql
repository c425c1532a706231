-- Those that are flagged.
{_mark}, if(f.reason = '1', 'archived', 'excluded'), f.key
FROM ({units}) AS f
WHERE f.reason IN ('1', '-1') AND f.key GLOBAL NOT IN
    (SELECT {_turn} FROM {turns} WHERE {_turn} GLOBAL IN ({flagged}))
