"""What commands show of one thing: an answer beside others, a context, a tree, an item to judge."""
