SELECT scope, lower(hex(hash)), role, name, parts, dialect FROM message WHERE {_of_scopes}
