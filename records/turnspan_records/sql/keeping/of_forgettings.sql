-- What landing adds has the time of what it was found by, and no forgetting of its own.
(forgetting_id GLOBAL IN (SELECT forgetting_id FROM {table} WHERE asked{mine})
    OR (forgetting_id = '' AND until GLOBAL IN (SELECT until FROM {table} WHERE asked{mine})))
