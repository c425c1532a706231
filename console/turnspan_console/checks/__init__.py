"""The doctor's checks: each says what it found and, where something is wrong, what to do."""
