-- Prompt, and the numbers of a locked lineage's sample and of an unlocked one's of its cycle: of the
-- same prompt only.
SELECT c.prompt_hash, c.number, r.number FROM result AS better
JOIN sample AS c ON c.attempt = better.attempt_id AND c.project = better.project
JOIN result AS other ON other.project = better.project
    AND other.experiment_id = better.experiment_id AND other.cycle = better.cycle
    AND NOT other.locked
JOIN sample AS r ON r.attempt = other.attempt_id AND r.project = other.project
    AND r.prompt_hash = c.prompt_hash
WHERE better.locked ORDER BY c.prompt_hash, c.project, c.unit, r.unit
