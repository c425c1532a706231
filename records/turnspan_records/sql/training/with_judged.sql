WITH judged AS (SELECT DISTINCT arrayJoin([subject_id, chosen_id, rejected_id]) FROM annotation)
