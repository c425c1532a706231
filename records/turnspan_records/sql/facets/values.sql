-- How turns divide: of each name the values that most turns have.
SELECT name, value, turns
FROM
(
    {pieces}
)
WHERE value != '' AND positionCaseInsensitiveUTF8(value, {text:String}) > 0
ORDER BY turns DESC, name, value
LIMIT {values:UInt32} BY name
