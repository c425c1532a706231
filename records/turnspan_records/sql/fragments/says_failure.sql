-- Whether a tool's result says in words that it failed.
match(result, '^[\\s"{}:\\[]*(?i:error|exception|traceback|failed|failure)\\b')
