"""What a model call's prompt was made of, where nobody recorded how it was put together: its parts
from what was sent. The engine knows how long each is; how many tokens that is, is an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.messages import NONE
from turnspan_records.training.tokens import BYTES_A_TOKEN

PARTS: Final = ("system", "tools", "history", "tool results", "new")
"""In the order in which a provider reads them: ``history`` and ``tool results`` are what was said
up to the last reply, ``new`` is what came after it."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One part of a prompt. ``tokens`` is an estimate: the provider's count for the whole prompt,
    divided by bytes, else one token for four bytes."""

    name: str
    messages: int
    bytes: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Composition:
    """The parts of a prompt, in the order of ``PARTS``. Absent parts are left out."""

    parts: list[PromptPart]
    input_tokens: int | None
    """As the provider counted; the estimates add up to it."""
    missing: int
    """Messages and definitions whose content is not in the store, which count as nothing."""


def composition(store: Store, project: str, call_id: str) -> Composition:
    """The parts of a model call's prompt.

    Raises:
        KeyError: there is no such call.
        StoreError: as ``Store.query``.
    """
    asked = {"project": project, "call": call_id}
    call = ask_row(store, "composition/call", call_id, **asked)
    messages = ask(store, "composition/messages", **asked, scope=call["scope"]).rows
    known = {
        str(id_): (str(role), int(size), bool(answers)) for id_, role, size, answers in messages
    }
    sizes: dict[str, list[int]] = {name: [] for name in PARTS}
    inputs = [str(one) for one in call["inputs"]]
    last = max(
        (at for at, one in enumerate(inputs) if known.get(one, ("",))[0] == "assistant"), default=-1
    )
    for at, one in enumerate(inputs):
        if one in known:
            role, size, answers = known[one]
            sizes[_part_of(role, answers, at > last)].append(size)
    missing = sum(one not in known for one in inputs)
    hashes = {name: str(call[name]) for name in ("system", "tools")}
    wanted = sorted(set(hashes.values()) - {NONE})
    rows = ask(store, "composition/definitions", project=project, hashes=wanted).rows
    defined = {str(id_): int(size) for id_, size in rows}
    for name, hash_ in hashes.items():
        if hash_ in defined and not (name == "system" and sizes["system"]):
            sizes[name].append(defined[hash_])
        missing += hash_ != NONE and hash_ not in defined
    total = call["input_tokens"]
    return Composition(_parts(sizes, total), None if total is None else int(total), missing)


def _part_of(role: str, answers: bool, new: bool) -> str:
    if role in ("system", "developer"):
        return "system"
    if answers or role == "tool":
        return "tool results"
    return "new" if new else "history"


def _parts(sizes: dict[str, list[int]], total: int | None) -> list[PromptPart]:
    """The parts with their tokens, which add up to the provider's count where it is known: what is
    lost by rounding down goes to those that lost most."""
    there = [(name, len(each), sum(each)) for name, each in sizes.items() if each]
    bytes_ = sum(size for _, _, size in there)
    if total is None or not bytes_:
        return [PromptPart(n, c, size, -(-size // BYTES_A_TOKEN)) for n, c, size in there]
    exact = [size * total / bytes_ for _, _, size in there]
    tokens = [int(one) for one in exact]
    most = sorted(range(len(there)), key=lambda at: tokens[at] - exact[at])
    for at in most[: total - sum(tokens)]:
        tokens[at] += 1
    return [PromptPart(n, c, s, t) for (n, c, s), t in zip(there, tokens, strict=True)]
