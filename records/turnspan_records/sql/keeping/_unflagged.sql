{_turn} GLOBAL NOT IN ({flagged})
