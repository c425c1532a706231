SELECT count(*) FROM artifact
WHERE turn_id = '' AND call_id = '' AND attempt_id = '' AND kind != 'correction'
