-- Of what was copied out of the store, once all of it is there.
CREATE INDEX about ON judgment (subject_id, subject_kind, project);
CREATE INDEX chosen ON judgment (chosen_id, project) WHERE kind = 'preference';
CREATE INDEX rejected ON judgment (rejected_id, project) WHERE kind = 'preference';
CREATE INDEX artifact_by_id ON artifact (artifact_id, project);
CREATE INDEX artifact_by_turn ON artifact (turn_id, project);
CREATE INDEX artifact_by_attempt ON artifact (attempt_id, project);
CREATE INDEX artifact_by_call ON artifact (call_id, project);
CREATE INDEX result_by_attempt ON result (attempt_id, project);
CREATE INDEX result_by_cycle ON result (project, experiment_id, cycle, locked);
