SELECT outer_member, argMin(consortium_id, started_at) AS inner_id FROM consortium
WHERE project = {project:String} AND outer_id = {run:String} AND outer_member != ''
GROUP BY outer_member
