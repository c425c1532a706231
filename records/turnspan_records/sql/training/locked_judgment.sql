INSERT INTO judgment (project, subject_kind, subject_id, kind, outcome, author)
VALUES (?, 'attempt', ?, 'locked', 'locked', ?)
