// The lineages of answers that are side by side: what is to become of them.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { announce } from "../frame/live";
import type { useJudging } from "../parts/judging";
import { counted } from "../parts/numbers";
import type { ComparedAnswer, ComparedAnswers, LineageNow, SteerQuery } from "../types";

type Word = SteerQuery["word"];
type Save = ReturnType<typeof useJudging>["save"];

/** What holds of the lineages now, and saying what is to become of them. What was said here counts
 * at once: where it has not landed, the store does not know it yet. */
export function useLineages(shown: ComparedAnswers, save: Save) {
  const [changes, setChanges] = useState<ReadonlyMap<string, LineageNow>>(new Map());
  const lineOf = (answer: ComparedAnswer | undefined): LineageNow | null =>
    answer?.lineage ? (changes.get(keyOf(answer)) ?? answer.lineage) : null;
  const say = (answers: readonly ComparedAnswer[], word: Word, text: string, words: string) => {
    const byKey = new Map(answers.map((one) => [keyOf(one), one]));
    const lineages = [...byKey.values()].flatMap((one) =>
      one.lineage ? [{ project: one.project, id: one.lineage.id }] : [],
    );
    save("steer", JSON.stringify([word, text, lineages]), (id) =>
      ask("POST /api/lineage/steer", { lineages, word, text, by: shown.by, id }).then(() => {
        setChanges((now) => {
          const next = new Map(now);
          for (const [key, one] of byKey) {
            const line = lineOf(one);
            if (line) next.set(key, after(line, word, text));
          }
          return next;
        });
        return { given: [], words };
      }),
    );
  };
  const locked = shown.answers.filter((one) => lineOf(one)?.locked).map((one) => one.id);
  /** Lock a lineage, or let it be evolved again; `false` where the answer is of none. */
  const lock = (answer: ComparedAnswer | undefined, place: number): boolean => {
    const line = lineOf(answer);
    if (!answer || !line) return false;
    const words = line.locked ? "may be evolved" : "stays as it is";
    say(
      [answer],
      line.locked ? "unlocked" : "locked",
      "",
      `The lineage of answer ${place} ${words}`,
    );
    return true;
  };
  const evolve = () => {
    const may = shown.answers.filter((one) => lineOf(one)?.locked === false);
    if (!may.length)
      return announce(
        locked.length ? "All their lineages are locked." : "None of these belongs to a lineage.",
      );
    const number = new Set(may.map(keyOf)).size;
    say(may, "evolve", "", `${counted(number, "lineage")} may be evolved`);
  };
  /** Say what is to be done differently; `false` where the answer is of no lineage. */
  const direct = (answer: ComparedAnswer | undefined, text: string, once: boolean): boolean => {
    if (!answer?.lineage) return false;
    const words = once ? "in the next cycle" : "from now on";
    say([answer], once ? "once" : "directive", text, `Directive stored ${words}`);
    return true;
  };
  return { lineOf, locked, lock, evolve, direct };
}

function keyOf(answer: ComparedAnswer): string {
  return `${answer.project} ${answer.lineage?.id ?? ""}`;
}

function after(line: LineageNow, word: Word, text: string): LineageNow {
  switch (word) {
    case "directive":
      return { ...line, directive: text };
    case "once":
      return { ...line, once: [...line.once, text] };
    case "evolve":
      return { ...line, evolve: true };
    default:
      return { ...line, locked: word === "locked" };
  }
}
