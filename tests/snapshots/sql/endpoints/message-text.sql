SELECT
 lower(hex(hash)) AS id,
 role,
 name,
 parts,
 source,
 dialect
FROM message
WHERE (project = {project:String}) AND (scope = {scope:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
