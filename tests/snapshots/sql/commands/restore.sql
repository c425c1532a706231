SELECT count()
FROM tombstone;

INSERT INTO turnspan.span FORMAT Native;

INSERT INTO turnspan.definition FORMAT Native;

INSERT INTO turnspan.message FORMAT Native;

INSERT INTO turnspan.tool_call FORMAT Native;

INSERT INTO turnspan.annotation FORMAT Native;

INSERT INTO turnspan.turn_summary FORMAT Native;

INSERT INTO turnspan.llm_call FORMAT Native;
