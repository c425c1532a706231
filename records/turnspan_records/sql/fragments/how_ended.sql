-- How a turn ended: its stop reason without its detail, else its status.
if(t.status = 'final', splitByChar(':', t.stop_reason)[1], t.status)
