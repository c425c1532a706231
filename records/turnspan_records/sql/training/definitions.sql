SELECT lower(hex(hash)), body, source FROM definition WHERE project = {project:String} AND hash IN
    (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16))
