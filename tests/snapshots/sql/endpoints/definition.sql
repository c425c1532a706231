SELECT
 lower(hex(hash)) AS id,
 body
FROM definition
WHERE (project = {project:String}) AND (hash IN (
 SELECT toFixedString(unhex(arrayJoin({hashes:Array(String)})), 16)
));
