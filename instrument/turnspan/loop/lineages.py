"""``turnspan.experiment``: lineages of an agent, their versions, and the rollouts and attempts by
which they are tried.

All of them are ``with`` blocks: turns, calls and spans inside carry their ids, in undecorated code,
in threads and tasks, and over ``turnspan.inject`` and ``extract``.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Final

from turnspan import semconv
from turnspan.content.given_values import frozen_of, mistaken, number_of, text_of
from turnspan.loop.artifacts import new_id
from turnspan.loop.attempts import Inside
from turnspan.loop.rollouts import Rollout, SharedBlock
from turnspan.loop.versions import Version
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard
from turnspan.tracing.loop_facts import (
    ExperimentOpened,
    LineageOpened,
    LineageTold,
    RolloutPlace,
    VersionMade,
)

_LAST_CYCLE: Final = 2**32 - 1


class Lineage(SharedBlock):
    """One line of versions of an agent, tried cycle after cycle."""

    def __init__(self, inside: Inside, experiment_id: str, lineage_id: str, label: str) -> None:
        super().__init__(inside.with_ids({semconv.LINEAGE_ID: lineage_id}))
        self.id: Final = lineage_id
        self.label: Final = label
        self.experiment_id: Final = experiment_id
        self.strategy = ""
        """The strategy last set in this process."""
        self.directive = ""
        """The directive for every cycle, last set in this process."""
        self.locked = False
        """Whether this process locked it last: a locked lineage stays as it is."""
        self.current: Version | None = None
        """The version of the next rollout, unless that names another."""
        self._once: list[str] = []
        self._versions: dict[str, Version] = {}

    def version(self, config: Any, *, name: str = "") -> Version:
        """The agent's version with this configuration; the next rollouts use it.

        Args:
            config: system prompt, tools, flow, memory, parameters, by name. The version's id is the
                SHA-256 of its canonical JSON (RFC 8785): the same configuration is the same version
                everywhere.
            name: a name for people; unique in the lineage.

        Raises:
            ConfigError: the lineage is locked and this is another version, or another version has
                the name. Inside a recorded block it is a warning, and the version is kept.
        """
        made = Version.of(config, text_of(name))
        known = self._versions.get(made.id)
        if known is None:
            self._refuse_if_locked("new version")
            if made.name and any(each.name == made.name for each in self._versions.values()):
                text = f"version {made.name!r} of lineage {self.label!r} has another configuration"
                mistaken(ConfigError(f"{text}: give this one a name of its own"))
        with guard("lineage.version"):
            if known is None:
                self._versions[made.id] = made
                self._inside.tell(
                    lambda resource, now: VersionMade(
                        resource, self.id, made.id, made.name, made.config, now
                    )
                )
            else:
                made = known
            self.current = made
        return made

    def rollout(
        self, cycle: int, *, task: str = "", version: Version | str | None = None
    ) -> Rollout:
        """A task of this lineage in a cycle, tried by attempts.

        Args:
            cycle: the cycle's number.
            task: the task, if a cycle has several.
            version: the version that does it; default: the lineage's current version.

        Raises:
            ConfigError: the lineage is locked, and this is not its current version. Inside a
                recorded block it is a warning.
        """
        if version is not None and self.current is not None and id_of(version) != self.current.id:
            self._refuse_if_locked("rollout of another version")
        place = RolloutPlace(self.id, "", 0, "", "")
        with guard("lineage.rollout"):
            number = number_of(cycle) or 0
            number = min(max(int(number), 0), _LAST_CYCLE)
            said = text_of(task)
            version_id = id_of(version if version is not None else self.current)
            rollout_id = _digest(self.id, str(number), said)
            place = RolloutPlace(self.id, rollout_id, number, said, version_id)
        return Rollout(self._inside, place)

    def lock(self, reason: str = "", *, author: str = "") -> None:
        """Keep the lineage as it is."""
        self.locked = True
        self._tell("locked", reason, author)

    def unlock(self, reason: str = "", *, author: str = "") -> None:
        """Allow the lineage to evolve again."""
        self.locked = False
        self._tell("unlocked", reason, author)

    def direct(self, directive: str = "", *, once: str = "", author: str = "") -> None:
        """Set what to do differently: in every cycle from now on (this replaces the directive
        before), or ``once``, in the next cycle."""
        with guard("lineage.direct"):
            if directive:
                self.directive = text_of(directive)
                self._tell("directive", directive, author)
            if once:
                self._once.append(text_of(once))
                self._tell("once", once, author)

    def directives(self) -> list[str]:
        """The directives to follow now; this uses up those for the next cycle."""
        said = [self.directive, *self._once] if self.directive else list(self._once)
        self._once.clear()
        return said

    def opened(
        self, strategy: str, locked: bool | None, directive: str, once: str, author: str
    ) -> None:
        """It is worked on, and this was said of it with that."""
        self._inside.tell(
            lambda resource, now: LineageOpened(
                resource, self.experiment_id, self.id, self.label, now
            )
        )
        if strategy:
            self.strategy = text_of(strategy)
            self._tell("strategy", strategy, author)
        self.direct(directive, once=once, author=author)
        if locked is not None:
            self.lock(author=author) if locked else self.unlock(author=author)

    def _refuse_if_locked(self, what: str) -> None:
        if self.locked:
            text = f"lineage {self.label!r} is locked and takes no {what}: unlock() it before"
            mistaken(ConfigError(text))

    def _tell(self, kind: str, text: str, author: str) -> None:
        with guard("lineage.tell"):
            self._inside.tell(
                lambda resource, now: LineageTold(
                    resource, self.id, kind, new_id(), text_of(text), text_of(author), now
                )
            )


def id_of(version: Version | str | None) -> str:
    """The id of a version that an application gave, or its id."""
    return version.id if isinstance(version, Version) else text_of(version)


class Experiment(SharedBlock):
    """A need, and the lineages tried for it."""

    def __init__(self, inside: Inside, experiment_id: str) -> None:
        super().__init__(inside.with_ids({semconv.EXPERIMENT_ID: experiment_id}))
        self.id: Final = experiment_id

    def lineage(
        self,
        label: str,
        *,
        strategy: str = "",
        locked: bool | None = None,
        directive: str = "",
        once: str = "",
        author: str = "",
    ) -> Lineage:
        """A lineage of this experiment by its label (``"A"``); its id follows from both.

        Args:
            label: its name.
            strategy: the idea by which it differs from the others.
            locked: whether it stays as it is. ``None`` changes nothing.
            directive: what to do differently in every cycle.
            once: what to do differently in the next cycle only.
            author: who decides.
        """
        name = text_of(label)
        made = Lineage(self._inside, self.id, _digest(self.id, name), name)
        with guard("experiment.lineage"):
            made.opened(text_of(strategy), locked, text_of(directive), text_of(once), author)
        return made


def experiment(session: str, *, need: str = "", constraints: Any = None) -> Experiment:
    """Begin or continue an experiment. Never raises.

    Args:
        session: the experiment's name; the same name continues the same lineages.
        need: what the agent should become good at.
        constraints: its bounds: a text, or any JSON value.
    """
    inside = Inside.here()
    made = Experiment(inside, text_of(session))
    with guard("experiment"):
        need = text_of(need)
        if need or constraints is not None:
            inside.tell(
                lambda resource, now: ExperimentOpened(
                    resource, made.id, need, frozen_of(constraints), now
                )
            )
    return made


def _digest(*parts: str) -> str:
    """An id that follows from these texts: 32 hexadecimal digits."""
    told = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=16).hexdigest()
