"""What an export is asked for: which records, what makes one good, and how it is written."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from turnspan_records.access.whole_folders import ExportError
from turnspan_records.access.window import Window

Kind: TypeAlias = Literal["sft", "preference", "kto", "reward", "cot"]
Format: TypeAlias = Literal["openai", "trl", "parquet"]
Unit: TypeAlias = Literal["turn", "call", "session"]
Together: TypeAlias = Literal["session", "user", "lineage"]
PairSource: TypeAlias = Literal["preferences", "corrections", "locked", "scores", "best", "edits"]
Images: TypeAlias = Literal["urls", "files"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
TOGETHER: Final[tuple[Together, ...]] = get_args(Together)
PAIR_SOURCES: Final[tuple[PairSource, ...]] = get_args(PairSource)
PAIRS: Final[tuple[PairSource, ...]] = ("preferences", "corrections", "locked", "scores")
"""Where pairs come from unless something else is said."""

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_RULE: Final = re.compile(
    r"(?P<kind>outcome|flag|score|evaluation:.+?)\s*(?P<op>[<>]=?|=)(?P<to>.+)"
)


_SAID_BY_NAME: Final = ("locked", "correction")
"""Rules that name what is said and ask for no value."""


@dataclass(frozen=True, slots=True)
class JudgmentInForce:
    """One judgment that holds: of the subject itself, or of what it is part of."""

    kind: str
    subject_kind: str
    subject_id: str
    outcome: str = ""
    training_flag: int | None = None
    score: float | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """The condition that a judgment must meet: ``outcome=used``, ``flag=1``, ``score>=8``,
    ``evaluation:NAME>=0.5``, ``evaluation:NAME=pass``. ``locked`` accepts results of a locked
    lineage, ``correction`` a person's text in place of the agent's, ``any`` everything."""

    text: str
    kind: str
    compare: str = "="
    value: float | str = ""

    def holds(self, judged: Mapping[str, JudgmentInForce]) -> bool:
        """Whether a record's judgments, by kind, meet the condition."""
        if self.kind == "any":
            return True
        said = judged.get(self.kind)
        if said is None:
            return False
        if self.kind in _SAID_BY_NAME:
            return True
        if isinstance(self.value, str):
            return said.outcome == self.value
        number = said.training_flag if self.kind == "training_flag" else said.score
        return number is not None and _COMPARE[self.compare](number, self.value)


def rule(text: str) -> Rule:
    """Parse a rule.

    Raises:
        ExportError: the text is not a rule; the message shows one.
    """
    text = text.strip()
    if text == "any" or text in _SAID_BY_NAME:
        return Rule(text, text)
    found = _RULE.fullmatch(text)
    if found is not None:
        kind, compare, to = found["kind"], found["op"], found["to"].strip()
        number = _number(to)
        if kind == "outcome" and compare == "=":
            return Rule(text, kind, compare, to)
        if kind == "flag" and number is not None:
            return Rule(text, "training_flag", compare, number)
        if kind not in ("outcome", "flag") and number is not None:
            return Rule(text, kind, compare, number)
        if kind.startswith("evaluation:") and compare == "=":
            return Rule(text, kind, compare, to)
    raise ExportError(
        f"{text!r} is no rule: write outcome=used, flag=1, score>=8, evaluation:NAME>=0.5, "
        "evaluation:NAME=pass, locked, correction or any."
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which records an export reads. Empty means all. All given conditions must hold."""

    project: str = ""
    agents: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    stop_reasons: tuple[str, ...] = ()
    """The whole reason, or its beginning up to a colon (``loop_detected``)."""
    authors: tuple[str, ...] = ()
    """Only the judgments of these count."""
    window: Window = field(default_factory=Window)
    """When it began."""
    only: tuple[Rule, ...] = ()
    """What has to be said of each, besides what makes it good."""
    where: str = ""
    """An SQL condition on the columns of turn_summary (of llm_call where the unit is a call)."""


GOOD: Final = (rule("outcome=used"), rule("flag=1"), rule("locked"), rule("correction"))
BAD: Final = (rule("outcome=rejected"),)
SPLITS: Final[Mapping[str, float]] = MappingProxyType({"train": 0.9, "test": 0.1})


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """An export.

    Attributes:
        unit: what one sample is: a turn from its first prompt to its last reply, one model call,
            or a whole session.
        good: what makes a completion worth imitating (any of them); for ``sft``, ``cot`` and the
            true label of ``kto``.
        bad: what makes the false label of ``kto`` (any of them).
        pairs: where preferences come from.
        margin: by how much the chosen score has to be greater.
        pairs_a_prompt: pairs by score a prompt at most, those of the greatest difference.
        splits: their shares, by name. A session and a prompt are in one split only.
        together: what else is in one split only: all sessions of a user, or of a lineage.
        unfinished: take turns whose last call failed or whose reply was cut, too.
        seed: another one, other prompts in each split.
        near: drop what is more similar than this to one kept before (0 to 1); ``None`` nothing.
        max_tokens: drop longer samples; ``None`` none.
        tokenizer: a ``tokenizer.json`` to count with, or ``tiktoken:NAME`` where the data of that
            encoding is at hand; without one the count is an estimate.
        images: as ``data:`` URLs in the lines, or as files beside them; ``None`` as the format has
            them.
    """

    kind: Kind
    format: Format = "openai"
    unit: Unit = "turn"
    filters: Filters = field(default_factory=Filters)
    good: tuple[Rule, ...] = GOOD
    bad: tuple[Rule, ...] = BAD
    pairs: tuple[PairSource, ...] = PAIRS
    margin: float = 1.0
    pairs_a_prompt: int = 64
    splits: Mapping[str, float] = field(default_factory=lambda: dict(SPLITS))
    together: Together = "session"
    seed: int = 0
    near: float | None = None
    max_tokens: int | None = None
    tokenizer: str = ""
    images: Images | None = None
    unfinished: bool = False

    def __post_init__(self) -> None:
        self._choices()
        if not all(re.fullmatch(r"\w+", name) for name in self.splits):
            raise ExportError("A split's name is made of letters, digits and underscores.")
        if not self.splits or any(not 0 < share <= 1 for share in self.splits.values()):
            raise ExportError("A split's share is a number above 0 and at most 1.")
        if not math.isclose(sum(self.splits.values()), 1.0, abs_tol=1e-9):
            raise ExportError(
                f"The splits' shares are 1 together, not {sum(self.splits.values())}."
            )
        if self.near is not None and not 0 < self.near < 1:
            raise ExportError("The similarity of near duplicates is between 0 and 1.")
        if not (math.isfinite(self.margin) and self.margin > 0):
            raise ExportError("The margin between two scores is greater than 0.")
        if self.format == "openai" and self.images == "files":
            raise ExportError("The format openai has images as URLs only.")

    def _choices(self) -> None:
        for name, value, known in (
            ("kind", self.kind, KINDS),
            ("format", self.format, FORMATS),
            ("unit", self.unit, UNITS),
            ("together", self.together, TOGETHER),
            ("images", self.images or "urls", ("urls", "files")),
            *(("pairs", one, PAIR_SOURCES) for one in self.pairs),
        ):
            if value not in known:
                raise ExportError(f"{name} is one of {', '.join(known)}: not {value!r}.")

    @property
    def image_files(self) -> bool:
        """Whether images become files."""
        return self.images == "files" or (self.images is None and self.format != "openai")

    @property
    def needs_judgment(self) -> bool:
        """Whether only what was judged can become a sample."""
        rules = {"sft": self.good, "cot": self.good, "kto": (*self.good, *self.bad)}
        if self.kind == "preference" and "edits" in self.pairs:
            return False
        return all(one.kind != "any" for one in rules.get(self.kind, ()))
