n.start_time > f.start_time AND (n.round > f.round OR (n.round = 0 AND f.round = 0))
