SELECT project, trace_id FROM {turns} WHERE (project, trace_id) GLOBAL IN
    (SELECT project, trace_id FROM {turns} WHERE {ours})
GROUP BY project, trace_id HAVING min({ours})
