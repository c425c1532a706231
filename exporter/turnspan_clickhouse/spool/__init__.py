"""The spool: a folder in which rows wait, whole, until a store has them."""
