"""One folder an SDK: how its calls are found, and how its requests and replies read."""
