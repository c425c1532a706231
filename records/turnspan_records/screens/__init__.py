"""What the screens of the page and the commands of the same name ask of the store."""
