"""``turnspan.experiment``: lineages of an agent, their versions, and the rollouts and attempts by
which they are tried.

All of them are ``with`` blocks: turns, calls and spans inside carry their ids, in undecorated code,
in threads and tasks, and over ``turnspan.inject`` and ``extract``.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import Any, Final

from turnspan import semconv
from turnspan.content.given_values import frozen_of, mistaken, number_of, text_of
from turnspan.loop.artifacts import new_id, resource_of
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
        """The strategy that was given last, here."""
        self.directive = ""
        """The directive that holds for every cycle, as it was given last, here."""
        self.locked = False
        """Whether it was locked last, here: it goes on as it is, and is not evolved."""
        self.current: Version | None = None
        """The version that the next rollout is of, unless it names another."""
        self._once: list[str] = []
        self._versions: dict[str, Version] = {}

    def version(self, config: Any, *, name: str = "") -> Version:
        """The version of the agent with this configuration, which the next rollouts are of.

        Args:
            config: system prompt, tools, flow, memory, parameters, by name. The version's id is the
                SHA-256 of its canonical JSON (RFC 8785): the same configuration is the same version
                everywhere.
            name: what people call it; in a lineage one configuration has a name.

        Raises:
            ConfigError: the lineage is locked and this is another version, or the name is another
                version's. Inside of what is recorded it is a warning, and the version is kept.
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
                self._tell_version(made)
            else:
                made = known
            self.current = made
        return made

    def rollout(
        self, cycle: int, *, task: str = "", version: Version | str | None = None
    ) -> Rollout:
        """What this lineage does in a cycle; tried by its attempts.

        Args:
            cycle: its number.
            task: what is done, where a cycle has several tasks.
            version: the version that does it; else the lineage's current one.

        Raises:
            ConfigError: the lineage is locked, and this is another version than its current one.
                Inside of what is recorded it is a warning.
        """
        if version is not None and self.current is not None and _id_of(version) != self.current.id:
            self._refuse_if_locked("rollout of another version")
        place = RolloutPlace(self.id, "", 0, "", "")
        with guard("lineage.rollout"):
            number = number_of(cycle) or 0
            number = min(max(int(number), 0), _LAST_CYCLE)
            said = text_of(task)
            version_id = _id_of(version if version is not None else self.current)
            rollout_id = _digest(self.id, str(number), said)
            place = RolloutPlace(self.id, rollout_id, number, said, version_id)
        return Rollout(self._inside, place)

    def lock(self, reason: str = "", *, author: str = "") -> None:
        """Keep it as it is."""
        self.locked = True
        self._tell("locked", reason, author)

    def unlock(self, reason: str = "", *, author: str = "") -> None:
        """Let it be evolved again."""
        self.locked = False
        self._tell("unlocked", reason, author)

    def direct(self, directive: str = "", *, once: str = "", author: str = "") -> None:
        """Say what is to be done differently: in every cycle from now on (in the place of what was
        said before), or ``once``, in the next one."""
        with guard("lineage.direct"):
            if directive:
                self.directive = text_of(directive)
                self._tell("directive", directive, author)
            if once:
                self._once.append(text_of(once))
                self._tell("once", once, author)

    def directives(self) -> list[str]:
        """The directives to follow now; those that were said once are used up by this."""
        said = [self.directive, *self._once] if self.directive else list(self._once)
        self._once.clear()
        return said

    def opened(
        self, strategy: str, locked: bool | None, directive: str, once: str, author: str
    ) -> None:
        """It is worked on, and this was said of it with that."""
        state = self._inside.recorder()
        if state is not None:
            now = time.time_ns()
            resource = resource_of(state)
            state.content.tell(
                LineageOpened(resource, self.experiment_id, self.id, self.label, now)
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
            state = self._inside.recorder()
            if state is not None:
                said = text_of(text)
                resource, now = resource_of(state), time.time_ns()
                state.content.tell(
                    LineageTold(resource, self.id, kind, new_id(), said, text_of(author), now)
                )

    def _tell_version(self, made: Version) -> None:
        state = self._inside.recorder()
        if state is not None:
            resource, now = resource_of(state), time.time_ns()
            state.content.tell(VersionMade(resource, self.id, made.id, made.name, made.config, now))


def _id_of(version: Version | str | None) -> str:
    return version.id if isinstance(version, Version) else text_of(version)


class Experiment(SharedBlock):
    """A need, and the lineages of an agent that are tried for it."""

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
            label: what it is called.
            strategy: by what idea it differs from the others.
            locked: whether it is kept as it is. What is not said stays as it was.
            directive: what is to be done differently, in every cycle.
            once: what is to be done differently in the next cycle only.
            author: who says so.
        """
        name = text_of(label)
        made = Lineage(self._inside, self.id, _digest(self.id, name), name)
        with guard("experiment.lineage"):
            made.opened(text_of(strategy), locked, text_of(directive), text_of(once), author)
        return made


def experiment(session: str, *, need: str = "", constraints: Any = None) -> Experiment:
    """Begin an experiment, or go on with it. Never raises.

    Args:
        session: what it is called; the same name goes on with the same lineages.
        need: what the agent is to become good at.
        constraints: within which bounds: a text, or anything that JSON can say.
    """
    inside = Inside.here()
    made = Experiment(inside, text_of(session))
    with guard("experiment"):
        need = text_of(need)
        state = inside.recorder() if need or constraints is not None else None
        if state is not None:
            resource, now = resource_of(state), time.time_ns()
            bounds = frozen_of(constraints)
            state.content.tell(ExperimentOpened(resource, made.id, need, bounds, now))
    return made


def _digest(*parts: str) -> str:
    """An id that follows from these texts: 32 hexadecimal digits."""
    told = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=16).hexdigest()
