-- No comparison with 1970: a shard cannot read the engine's spelling of it in a pushed condition.
t.parent_turn_id = ''
    AND {of_project}
    AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00'
        OR start_time >= {since:DateTime64(9, 'UTC')})
    AND start_time < {until:DateTime64(9, 'UTC')}
