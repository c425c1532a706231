"""Files that are whole or not there, and locks that end with their process."""
