SELECT {_turn} FROM {rows} WHERE {_has_texts}
