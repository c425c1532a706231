SELECT table, sum(rows), sum(bytes_on_disk), count() FROM system.parts
WHERE active AND database = currentDatabase()
GROUP BY table
