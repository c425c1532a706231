({recent:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR start_time >= {recent:DateTime64(9, 'UTC')})
