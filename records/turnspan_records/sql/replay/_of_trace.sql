{_of_session} AND trace_id = {trace:String}
