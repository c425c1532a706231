"""Folds a flat list of messages into turns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from turnspan_demo.model import Reply, Turn


@dataclass(slots=True)
class Folder:
    """Takes messages in order; ``turns``, ``greeting`` and ``unanswered`` are the outcome."""

    greeting: str = ""
    _user: str | None = None
    _replies: list[Reply] = field(default_factory=list[Reply])
    _turns: list[Turn] = field(default_factory=list[Turn])
    _results: int = 0

    def user(self, text: str) -> None:
        """A user message: the turn before it is over. Two in a row are one message."""
        if self._user is not None and not self._replies:
            self._user = f"{self._user}\n\n{text}"
            return
        self._close()
        self._user = text

    def assistant(self, reply: Reply) -> None:
        """A model reply."""
        if self._user is None:
            if reply.tools:
                raise ValueError("a tool call before the first user message")
            self.greeting = f"{self.greeting}\n\n{reply.text}" if self.greeting else reply.text
            return
        self._replies.append(reply)
        self._results = 0

    def result(self, content: str, failed: bool) -> None:
        """The result of the next tool call of the last reply, in the order asked for."""
        reply = self._replies[-1]
        tools = list(reply.tools)
        tools[self._results] = replace(tools[self._results], result=content, failed=failed)
        self._results += 1
        self._replies[-1] = replace(reply, tools=tuple(tools))

    def ends_on_tools(self) -> bool:
        """Whether the last turn so far ends on tool results, without a further reply."""
        return bool(self._replies and self._replies[-1].tools)

    def turns(self, stop: str = "", detail: str = "") -> tuple[Turn, ...]:
        """The turns; a last one that ends on tool results gets the stop."""
        self._close(stop, detail)
        return tuple(self._turns)

    @property
    def unanswered(self) -> str:
        """The last user message, where no reply followed it."""
        return self._user or ""

    def _close(self, stop: str = "", detail: str = "") -> None:
        if self._user is None or not self._replies:
            return
        ended = (stop, detail) if self.ends_on_tools() else ("", "")
        self._turns.append(Turn(self._user, tuple(self._replies), *ended))
        self._user = None
        self._replies = []
