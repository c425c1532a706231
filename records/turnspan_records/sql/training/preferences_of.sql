SELECT chosen_id, rejected_id, author FROM judgment
WHERE kind = 'preference' AND subject_kind = 'artifact' AND project = ?1
    AND (chosen_id = ?2 OR rejected_id = ?2) ORDER BY chosen_id, rejected_id
