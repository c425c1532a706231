// The judgments that can be given, each with its key, and what this reviewer has said already.
import type { JSX } from "preact";
import { type Action, hint, KEYS } from "../keys";
import type { JudgmentRecord, ReviewTurn } from "../types";
import type { Said, Way } from "./review_way";

interface Props {
  item: ReviewTurn;
  by: string;
  scoring: boolean;
  judge: (said: Said) => void;
  way: Way;
}

export const OUTCOMES = [
  ["one", "used"],
  ["two", "modified"],
  ["three", "rejected"],
] as const;
export const FLAGS = [
  ["good", 1, "good"],
  ["bad", -1, "exclude"],
  ["zero", 0, "clear"],
] as const;
const SCORES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

export function Verdicts({ item, by, scoring, judge, way }: Props) {
  const own = (kind: string) => newest(item.judgments, by, kind);
  return (
    <div class="verdicts">
      <fieldset>
        <legend>Outcome</legend>
        {OUTCOMES.map(([key, outcome]) => (
          <Choice
            key={key}
            action={key}
            on={own("outcome")?.outcome === outcome}
            suggested={item.suggests === outcome}
            act={() => judge({ outcome })}
          >
            {outcome}
          </Choice>
        ))}
      </fieldset>
      <fieldset>
        <legend>For training</legend>
        {FLAGS.map(([key, flag, name]) => (
          <Choice
            key={key}
            action={key}
            on={flag !== 0 && own("training_flag")?.training_flag === flag}
            act={() => judge({ flag })}
          >
            {name}
          </Choice>
        ))}
      </fieldset>
      <fieldset class={scoring ? "scoring" : undefined}>
        <legend>
          Score (<kbd>s</kbd>, then <kbd>1</kbd> … <kbd>9</kbd>, <kbd>0</kbd> for 10)
        </legend>
        {SCORES.map((score) => (
          <button
            key={score}
            type="button"
            aria-pressed={own("score")?.score === score}
            onClick={() => judge({ score })}
          >
            {score}
          </button>
        ))}
      </fieldset>
      <p class="ways">
        <Step action="undo" act={() => void way.undo()} />
        <Step action="back" act={() => void way.back()} name="back" />
        <Step action="peek" act={() => void way.next()} name="skip" />
        <Step action="open" act={() => void way.next()} name="next" />
      </p>
    </div>
  );
}

/** What holds of what this reviewer has said. */
function newest(
  judgments: readonly JudgmentRecord[],
  by: string,
  kind: string,
): JudgmentRecord | undefined {
  return judgments.findLast((one) => one.author === by && one.kind === kind && !one.withdrawn_at);
}

interface ChoiceProps {
  action: Action;
  on: boolean;
  suggested?: boolean;
  act: () => void;
  children: JSX.Element | string;
}

export function Choice({ action, on, suggested = false, act, children }: ChoiceProps) {
  return (
    <button type="button" aria-pressed={on} title={hint(action)} onClick={act}>
      <kbd>{KEYS[action][0]}</kbd> {children}
      {suggested && <span class="faint"> (suggested)</span>}
    </button>
  );
}

function Step({ action, act, name }: { action: Action; act: () => void; name?: string }) {
  return (
    <button type="button" onClick={act}>
      <kbd>{KEYS[action][0]}</kbd> {name ?? KEYS[action][1]}
    </button>
  );
}
