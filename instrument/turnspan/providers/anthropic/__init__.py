"""The ``anthropic`` SDK: messages, streams and tool runners."""
