CREATE INDEX by_prompt ON sample (prompt_hash, project, unit);
CREATE INDEX by_unit ON sample (unit, project);
CREATE INDEX by_result ON sample (attempt, project);
