SELECT name, syntax, description
FROM system.functions
WHERE alias_to = '' AND NOT startsWith(name, '_')
ORDER BY name
