SELECT count() FROM ({keys})
WHERE key GLOBAL IN ({gone}) AND key GLOBAL NOT IN (SELECT {content} FROM {contents})
