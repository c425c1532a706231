SELECT toUnixTimestamp64Nano(min(first_seen)), toUnixTimestamp64Nano(max(first_seen)), count()
FROM message WHERE {of_project}
