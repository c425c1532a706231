-- What was said of turns themselves.
{_mark}, toString(assumeNotNull(training_flag)), sipHash128(project, subject_id)
FROM {judged} WHERE subject_kind = 'turn' AND {_flags}
