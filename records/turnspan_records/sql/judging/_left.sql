((project, turn_id) NOT IN ({_judged}) OR has({again:Array(String)}, {_key}))
    AND NOT has({done:Array(String)}, {_key})
