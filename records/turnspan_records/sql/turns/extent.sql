-- From the parts alone, without reading a row.
SELECT toUnixTimestamp64Nano(min(start_time)), toUnixTimestamp64Nano(max(start_time)), count()
FROM turn_summary
