-- What is open is not compared, so that no time is read for it.
{of_project}
    AND ({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00'
        OR start_time >= {since:DateTime64(9, 'UTC')})
    AND ({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00'
        OR start_time < {until:DateTime64(9, 'UTC')})
