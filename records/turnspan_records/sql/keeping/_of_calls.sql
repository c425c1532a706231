subject_kind IN ('call', 'llm_call')
