-- Of a trace the session is not known; of everything else it is, and if it is none.
project = {project:String}
    AND ({trace:String} != '' OR session_id = {session:String})
    AND ({turn:String} = '' OR turn_id = {turn:String})
    AND ({trace:String} = '' OR trace_id = {trace:String})
