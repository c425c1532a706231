SELECT {_turn} FROM {rows} WHERE turn_id != ''
