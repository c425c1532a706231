SELECT groupUniqArray(toString(kind)), toUnixTimestamp64Nano(max(until)) FROM {table} WHERE {where}
