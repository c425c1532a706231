[least(chosen_id, rejected_id), greatest(chosen_id, rejected_id)]
