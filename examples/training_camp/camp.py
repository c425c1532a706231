"""The loop: run, score, lock, direct, evolve, run again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import openai

import turnspan
from training_camp.model import NOTES, Model
from training_camp.rubric import Verdict, judge

CYCLES = 3
MODEL = "gpt-4o-mini"
TRIES = 4
LIVELY = {"temperature": 1.0}
BEST_OF = "Ferry"
CORRECTED = (
    "== Ferry ==\nThe ferry to Sand island sails twice a day and, in winter, carries the post [1]. "
    "It was renewed in 2004, after a fire [2]."
)
"""What a person makes of an article."""
Config = dict[str, Any]

STRATEGIES = {
    "A": ("plain", "You write wiki articles from notes."),
    "B": ("structured", "You write wiki articles from notes. Begin with a heading."),
    "C": ("step by step", "You write wiki articles from notes, one fact at a time."),
    "D": ("economical", "You write wiki articles from notes. Keep them short."),
}
ASKED = {
    "sources": " Give the source of every sentence.",
    "heading": " Begin with a heading.",
    "short": " Keep it short.",
}


@dataclass
class Player:
    """A lineage that takes part."""

    lineage: Any
    config: Config
    version: Any = None
    verdicts: dict[int, list[Verdict]] = field(default_factory=dict[int, list[Verdict]])

    def mean(self, cycle: int) -> float:
        """What its articles of a cycle scored."""
        each = self.verdicts[cycle]
        return sum(one.score for one in each) / len(each)


class Camp:
    """Four lineages for one need."""

    def __init__(self, client: openai.OpenAI, session: str) -> None:
        self.session = session
        self.client = client
        self.experiment = turnspan.experiment(
            session,
            need="articles that readers can check",
            constraints={"model": MODEL, "cycles": CYCLES},
        )
        self.players = [self._player(label) for label in STRATEGIES]
        self.validated: list[str] = []

    def _player(self, label: str) -> Player:
        strategy, prompt = STRATEGIES[label]
        player = Player(
            self.experiment.lineage(label, strategy=strategy),
            {"system_prompt": prompt, "tools": [], "parameters": {"temperature": 0.2}},
        )
        player.version = player.lineage.version(player.config, name=f"{label}1")
        return player

    def cycle(self, number: int) -> None:
        """Every lineage writes every article; a rubric judges them."""
        for player in self.players:
            player.verdicts[number] = []
            for title in NOTES:
                with player.lineage.rollout(number, task=title) as rollout:
                    self._write(player, rollout, number, title)

    def _write(self, player: Player, rollout: Any, number: int, title: str) -> None:
        """Up to two attempts: what fails is tried again."""
        for _ in range(2):
            parameters = player.config["parameters"]
            try:
                with rollout.attempt(model=MODEL, parameters=parameters) as attempt:
                    text = self._ask(player.config, title)
                    made = turnspan.artifact(f"Wiki/{title}", text, kind="article")
            except openai.OpenAIError:
                continue
            verdict = judge(text)
            self._judge(made, verdict)
            turnspan.evaluation("words", score=float(len(text.split())), subject=attempt)
            player.verdicts[number].append(verdict)
            return

    def _ask(self, config: Config, title: str) -> str:
        """Plain SDK code: it knows nothing of the camp."""
        create: Any = self.client.chat.completions.create
        reply = create(
            model=MODEL,
            messages=[
                {"role": "system", "content": config["system_prompt"]},
                {"role": "user", "content": f"Write the article: {title}"},
            ],
            **config["parameters"],
        )
        return str(reply.choices[0].message.content or "")

    def review(self, number: int) -> None:
        """Lock the best, direct and evolve the others."""
        best = max(self.players, key=lambda player: player.mean(number))
        for player in self.players:
            if player is best:
                if not player.lineage.locked:
                    player.lineage.lock("the best of its cycle", author="coach")
                continue
            if player.lineage.locked:
                player.lineage.unlock("no longer the best", author="coach")
            self._evolve(player, number)

    def _evolve(self, player: Player, number: int) -> None:
        label = player.lineage.label
        lacks = player.verdicts[number][0].missing
        if label == "A" and number == 1:
            player.lineage.direct(once="try a vivid tone", author="coach")
        elif lacks:
            player.lineage.direct(f"always mind: {lacks}", author="coach")
        said = player.lineage.directives()
        config = dict(player.config)
        if "try a vivid tone" in said:
            change, asked = "tone", " Be vivid."
        else:
            change, asked = "prompt", ASKED.get(lacks, "")
        if not asked:
            return
        config["system_prompt"] += asked
        before = player.version
        player.config = config
        player.version = player.lineage.version(config, name=f"{label}{number + 1}")
        evolution = turnspan.evolve(
            player.lineage,
            before,
            player.version,
            trigger=f"cycle {number}: {player.verdicts[number][0].comment}",
            hypothesis=f"asked for it, it scores more than {player.mean(number):.1f}",
            plan="; ".join(said),
            changes={change: asked.strip()},
            author="coach",
        )
        if change == "prompt":
            self.validated.append(evolution)

    def learn(self) -> None:
        """Say what was seen; what it is worth is computed from the scores."""
        turnspan.insight(
            "Naming what is missing in the prompt is enough",
            change="prompt",
            evolutions=self.validated,
            experiment=self.experiment,
            author="coach",
        )
        turnspan.insight(
            "A vivid tone makes articles longer, not better",
            change="tone",
            experiment=self.experiment,
            author="coach",
        )

    def choose(self) -> None:
        """Ask the best lineage's last version several times for one article, livelier, and let the
        best answer count; a person corrects what is wrong with the worst."""
        best = max(self.players, key=lambda player: player.mean(CYCLES))
        tried: list[tuple[float, Any, str]] = []
        with best.lineage.rollout(CYCLES + 1, task=BEST_OF) as rollout:
            for _ in range(TRIES):
                with rollout.attempt(model=MODEL, parameters=LIVELY) as attempt:
                    text = self._ask({**best.config, "parameters": LIVELY}, BEST_OF)
                    made = turnspan.artifact(f"Wiki/{BEST_OF}", text, kind="article")
                verdict = judge(text)
                self._judge(made, verdict)
                tried.append((verdict.score, attempt, made))
            rollout.final(max(tried, key=itemgetter(0))[1])
        worst = min(tried, key=itemgetter(0))[2]
        better = turnspan.artifact(f"Wiki/{BEST_OF}", CORRECTED, kind="correction")
        turnspan.prefer(better, worst, kind="artifact", author="coach")

    def _judge(self, made: str, verdict: Verdict) -> None:
        turnspan.annotate(
            made, kind="artifact", score=verdict.score, comment=verdict.comment, author="rubric"
        )


def run(session: str = "") -> Camp:
    """Play all cycles against the local model; the records go where ``configure`` said."""
    session = session or time.strftime("training-camp-%m%d-%H%M%S")
    with Model() as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        camp = Camp(client, session)
        with camp.experiment:
            for number in range(1, CYCLES + 1):
                camp.cycle(number)
                if number < CYCLES:
                    camp.review(number)
            camp.choose()
        camp.learn()
    return camp
