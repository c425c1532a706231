SELECT
 position,
 source_rows
FROM import_position
WHERE (project = {project:String}) AND (kind = {kind:String}) AND (source = {source:String});

SELECT count()
FROM tombstone;

INSERT INTO turnspan.llm_call FORMAT Native;

INSERT INTO turnspan.turn_summary FORMAT Native;

INSERT INTO turnspan.message FORMAT Native;

INSERT INTO turnspan.span FORMAT Native;

INSERT INTO turnspan.import_position FORMAT Native;
