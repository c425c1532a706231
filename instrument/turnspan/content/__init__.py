"""What content is made of: the message model, its JSON, and media that are kept by hash."""
