-- A set of its own: a cluster takes joins in a set, and neither UNION nor another set.
, wrote AS (SELECT arrayJoin([a.turn_id, a.call_id, a.attempt_id]) FROM artifact AS a
    INNER JOIN (SELECT DISTINCT arrayJoin([subject_id, chosen_id, rejected_id]) AS id
    FROM annotation WHERE subject_kind = 'artifact') AS j ON j.id = a.artifact_id)
