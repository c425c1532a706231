"""Files of records in any order: which belong together, and how far an import has come in them."""
