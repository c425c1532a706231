"""Agents over the real SDKs, and what plays a recorded run with them."""

from turnspan_demo.agents.play import Played, connect, play, play_async

__all__ = ["Played", "connect", "play", "play_async"]
