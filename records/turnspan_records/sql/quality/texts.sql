SELECT project, lower(hex(hash)) AS digest, body FROM definition
WHERE project IN {projects:Array(String)}
    AND hash IN (SELECT CAST(unhex(arrayJoin({hashes:Array(String)})), 'FixedString(16)'))
