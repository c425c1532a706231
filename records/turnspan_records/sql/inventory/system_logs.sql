SELECT sum(bytes_on_disk) FROM system.parts
WHERE active AND database = 'system' AND table LIKE '%\_log%'
