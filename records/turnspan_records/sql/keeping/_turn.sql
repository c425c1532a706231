sipHash128(project, turn_id)
