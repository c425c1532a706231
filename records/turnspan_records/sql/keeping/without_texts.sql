INSERT INTO {table} ({names})
SELECT {values} FROM (SELECT * FROM {table} FINAL) AS r WHERE {marked}
