-- How many results of one task and cycle are no pair, since their prompts differ.
SELECT count(*) FROM result AS better
JOIN result AS other
    ON other.project = better.project AND other.experiment_id = better.experiment_id
    AND other.cycle = better.cycle AND other.task = better.task AND NOT other.locked
WHERE better.locked
    AND EXISTS (SELECT 1 FROM sample AS s WHERE s.attempt = better.attempt_id)
    AND EXISTS (SELECT 1 FROM sample AS s WHERE s.attempt = other.attempt_id)
    AND NOT EXISTS (SELECT 1 FROM sample AS c JOIN sample AS r ON r.prompt_hash = c.prompt_hash
        WHERE c.attempt = better.attempt_id AND r.attempt = other.attempt_id)
