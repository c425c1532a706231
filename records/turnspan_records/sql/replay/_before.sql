start_time < {until:DateTime64(9, 'UTC')}
