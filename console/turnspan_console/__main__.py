"""``python -m turnspan_console``: the ``turnspan`` command where its script is not on the path."""

from turnspan_console import main

if __name__ == "__main__":
    main()
