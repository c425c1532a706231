SELECT * FROM
({_columns} AND subject_id = {id:String}
UNION ALL
{_columns} AND kind = 'preference' AND rejected_id = {id:String})
ORDER BY created_at, id
