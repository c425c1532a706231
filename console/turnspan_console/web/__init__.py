"""The page: a server on this machine, its endpoints, and the built files that a browser gets."""
