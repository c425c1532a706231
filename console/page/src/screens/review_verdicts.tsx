// The judgments that can be given, each with its key, and what this reviewer has said already.
import type { Action, Handlers } from "../keys";
import { KeyButton } from "../parts/key_button";
import type { JudgeQuery, JudgmentRecord, ReviewTurn } from "../types";

export type Judgment = Pick<
  JudgeQuery,
  "outcome" | "flag" | "score" | "note" | "label" | "correction"
>;

export interface Verdict {
  readonly action: Action;
  readonly name: string;
  readonly judgment: Pick<JudgeQuery, "outcome" | "flag">;
}

const OUTCOMES: readonly Verdict[] = [
  { action: "one", name: "used", judgment: { outcome: "used" } },
  { action: "two", name: "modified", judgment: { outcome: "modified" } },
  { action: "three", name: "rejected", judgment: { outcome: "rejected" } },
];
const FLAGS: readonly Verdict[] = [
  { action: "good", name: "good", judgment: { flag: 1 } },
  { action: "bad", name: "exclude", judgment: { flag: -1 } },
  { action: "zero", name: "clear", judgment: { flag: 0 } },
];
export const VERDICTS = [
  ["Outcome", OUTCOMES],
  ["For training", FLAGS],
] as const;

/** The keys of all verdicts. */
export function verdictKeys(act: (verdict: Verdict) => void): Handlers {
  const keys = [...OUTCOMES, ...FLAGS].map((verdict) => [
    verdict.action,
    // A key that is held is one verdict: keys wait for the turns that they are of.
    ({ repeat }: KeyboardEvent) => repeat || act(verdict),
  ]);
  return Object.fromEntries(keys);
}

const DIGITS = "one two three four five six seven eight nine zero".split(" ");

/** The keys of the first so many digits; 0 is the tenth. */
export function digitKeys(number: number, act: (digit: number) => void): Handlers {
  const keys = DIGITS.slice(0, number).map((action, at) => [action, () => act(at + 1)]);
  return Object.fromEntries(keys);
}

interface ChoicesProps {
  isOn: (verdict: Verdict) => boolean;
  choose: (verdict: Verdict) => void;
  /** The outcome that what became of the turn suggests. */
  suggested?: string;
}

export function Choices({ isOn, choose, suggested = "" }: ChoicesProps) {
  return VERDICTS.map(([title, verdicts]) => (
    <fieldset key={title}>
      <legend>{title}</legend>
      {verdicts.map((verdict) => (
        <KeyButton
          key={verdict.action}
          action={verdict.action}
          on={isOn(verdict)}
          act={() => choose(verdict)}
        >
          {verdict.name}
          {verdict.name === suggested && <span class="faint"> (suggested)</span>}
        </KeyButton>
      ))}
    </fieldset>
  ));
}

interface Props {
  item: ReviewTurn;
  by: string;
  scoring: boolean;
  judge: (judgment: Judgment) => void;
  /** What the buttons below the judgments do. */
  steps: Readonly<Record<(typeof STEPS)[number][0], () => unknown>>;
}

const STEPS = [
  ["undo", "undo"],
  ["back", "back"],
  ["peek", "skip"],
  ["open", "next"],
] as const;
const SCORES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

export function Verdicts({ item, by, scoring, judge, steps }: Props) {
  const isOn = ({ judgment: { outcome, flag } }: Verdict) =>
    outcome
      ? newest(item, by, "outcome")?.outcome === outcome
      : flag !== 0 && newest(item, by, "training_flag")?.training_flag === flag;
  const score = newest(item, by, "score")?.score;
  return (
    <div class="verdicts">
      <Choices isOn={isOn} choose={({ judgment }) => judge(judgment)} suggested={item.suggests} />
      <fieldset class={scoring ? "scores scoring" : "scores"}>
        <legend>
          Score <kbd>s</kbd>
        </legend>
        {SCORES.map((number) => (
          <button
            key={number}
            type="button"
            aria-pressed={score === number}
            onClick={() => judge({ score: number })}
          >
            {number}
          </button>
        ))}
      </fieldset>
      <p class="ways">
        {STEPS.map(([action, name]) => (
          <KeyButton key={action} action={action} act={steps[action]}>
            {name}
          </KeyButton>
        ))}
      </p>
    </div>
  );
}

/** What holds of what this reviewer has said. */
function newest({ judgments }: ReviewTurn, by: string, kind: string): JudgmentRecord | undefined {
  return judgments.findLast((one) => one.author === by && one.kind === kind && !one.withdrawn_at);
}
