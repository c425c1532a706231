"""A local model server that replays recorded runs in the providers' own wire formats."""

from turnspan_demo.server.http import ModelServer
from turnspan_demo.server.library import Library

__all__ = ["Library", "ModelServer"]
