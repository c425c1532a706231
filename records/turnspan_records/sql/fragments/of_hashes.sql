hash IN (SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16))
