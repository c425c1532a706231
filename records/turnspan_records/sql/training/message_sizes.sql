SELECT scope, sum(length(parts)) FROM message WHERE {_of_scopes} GROUP BY scope
