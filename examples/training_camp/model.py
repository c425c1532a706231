"""The camp's model: on loopback, without a key. It writes from its notes, as its prompt asks."""

from __future__ import annotations

import re

from turnspan.testing import ModelError, ModelRequest, ModelServer, Reply, Usage

NOTES = {
    "Lighthouse": (
        "The lighthouse of Vik was built in 1893.",
        "It is 24 metres high and stands on a basalt cliff.",
        "Its keeper lived there with her family until 1961.",
    ),
    "Ferry": (
        "The ferry to Sand island sails twice a day.",
        "It was renewed in 2004 after a fire.",
        "In winter it carries the post as well.",
    ),
}
"""What the agent knows of each article."""
_PADDING = (
    "Many visitors have written about it at length, and many more will surely do so in the years "
    "to come, since there is always something to say about a place such as this one."
)

_LIVELY = 0.7


class Model(ModelServer):
    """Answers by what the system prompt asks for; refuses its first request from lineage C. At a
    high temperature it forgets something more with every answer."""

    def __init__(self) -> None:
        super().__init__(default=self._answer)
        self._refused = False
        self._lively = 0

    def _answer(self, request: ModelRequest) -> Reply | ModelError:
        said = {str(one["role"]): str(one["content"]) for one in request.messages}
        system, title = said.get("system", "").lower(), said["user"].rpartition(":")[2].strip()
        if "one fact at a time" in system and not self._refused:
            self._refused = True
            return ModelError(400, "the context is too long")
        lines = list(NOTES.get(title, ()))
        if "source" in system:
            lines = [f"{line[:-1]} [{number}]." for number, line in enumerate(lines, 1)]
        if "heading" in system:
            lines.insert(0, f"== {title} ==")
        if "short" not in system:
            lines.append(_PADDING)
        if "vivid" in system:
            lines.append(f"Imagine it! {_PADDING}")
        if float(request.body.get("temperature") or 0) >= _LIVELY:
            lines = _forgetful(lines, self._lively)
            self._lively += 1
        text = "\n".join(lines)
        # As the other demonstration: a token for four characters.
        return Reply(text, usage=Usage(len(system + title) // 4, len(text) // 4))


def _forgetful(lines: list[str], often: int) -> list[str]:
    """The first answer is whole; then the heading goes, then the sources, then brevity."""
    if often > 0:
        lines = [line for line in lines if not line.startswith("==")]
    if often > 1:
        lines = [re.sub(r" \[\d\]", "", line) for line in lines]
    return [*lines, _PADDING] if often > 2 else lines
