-- As what a tag is searched. A tag that is not named here Jaeger looks for as text at every level,
-- which is how the records keep them; a number that was written as a word is text, too.
CREATE OR REPLACE VIEW {jaeger}.attribute_metadata {on_cluster} AS
SELECT attribute_key, arrayJoin([type, 'str']) AS type, 'span' AS level
FROM {jaeger}.attribute_type
