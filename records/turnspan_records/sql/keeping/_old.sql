{time} < now64(9) - toIntervalSecond({window:UInt64})
