// What is done with the selected turns: compared, or all judged alike.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { hint, useKeys } from "../keys";
import { Told, useJudging } from "../parts/judging";
import { counted } from "../parts/numbers";
import type { JudgeEachQuery, TurnRow } from "../types";
import { go, param, withParams } from "../url";
import { Choice, FLAGS, OUTCOMES } from "./review_verdicts";

const MOST_COMPARED = 6;
/** As many as one request judges. */
const MOST_JUDGED = 100;

interface Props {
  turns: readonly TurnRow[];
  clear: () => void;
}

export function Selected({ turns, clear }: Props) {
  const [judging, setJudging] = useState(false);
  const comparable = turns.length > 1 && turns.length <= MOST_COMPARED;
  const compare = () =>
    go(withParams(["compare"], { ids: turns.map((one) => one.turn).join(",") }));
  const judge = () => setJudging(true);
  useKeys({
    ...(comparable ? { compare } : {}),
    ...(turns.length <= MOST_JUDGED ? { judgeSelected: judge } : {}),
    out: clear,
  });
  return (
    <section class="selected" aria-label="Selected turns">
      <p>
        {counted(turns.length, "turn")} selected{" "}
        <button type="button" disabled={!comparable} title={hint("compare")} onClick={compare}>
          <kbd>C</kbd> compare
        </button>{" "}
        <button
          type="button"
          disabled={turns.length > MOST_JUDGED}
          title={hint("judgeSelected")}
          onClick={judge}
        >
          <kbd>A</kbd> judge all
        </button>{" "}
        <button type="button" onClick={clear}>
          <kbd>Esc</kbd> select none
        </button>
        {turns.length > MOST_JUDGED && ` · at most ${MOST_JUDGED} are judged at once`}
      </p>
      {judging && <JudgeAll turns={turns} close={() => setJudging(false)} />}
    </section>
  );
}

interface Verdict {
  readonly name: string;
  readonly said: Pick<JudgeEachQuery, "outcome" | "flag">;
}

const VERDICTS = {
  Outcome: OUTCOMES.map(([key, outcome]) => [key, { name: outcome, said: { outcome } }] as const),
  "For training": FLAGS.map(
    ([key, flag, name]) => [key, { name: `for training: ${name}`, said: { flag } }] as const,
  ),
} as const;
const EVERY: readonly (readonly [(typeof OUTCOMES | typeof FLAGS)[number][0], Verdict])[] =
  Object.values(VERDICTS).flat();

/** One verdict on all of them: chosen, then confirmed, then taken back at once if it was wrong. */
function JudgeAll({ turns, close }: { turns: readonly TurnRow[]; close: () => void }) {
  const [chosen, setChosen] = useState<Verdict | null>(null);
  const by = param("by");
  const { judging, busy, save, takeBack } = useJudging(by);
  const all = counted(turns.length, "turn");
  const store = () => {
    if (!chosen) return;
    const subjects = turns.map(({ turn, project }) => ({ kind: "turn", id: turn, project }));
    save(chosen.name, JSON.stringify(subjects), (id) =>
      ask("POST /api/judge", { subjects, by, id, ...chosen.said }).then(({ answer }) => {
        setChosen(null);
        return {
          given: answer.given,
          words: `${counted(answer.given.length, "turn")} judged: ${chosen.name}`,
        };
      }),
    );
  };
  useKeys({
    ...Object.fromEntries(EVERY.map(([key, verdict]) => [key, () => setChosen(verdict)])),
    ...(chosen ? { open: store } : {}),
    ...(judging.saved.length ? { undo: takeBack } : {}),
    out: () => (chosen ? setChosen(null) : close()),
  });
  return (
    <div class="verdicts" aria-busy={busy}>
      {Object.entries(VERDICTS).map(([title, verdicts]) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          {verdicts.map(([key, verdict]) => (
            <Choice
              key={key}
              action={key}
              on={chosen?.name === verdict.name}
              act={() => setChosen(verdict)}
            >
              {verdict.name.replace("for training: ", "")}
            </Choice>
          ))}
        </fieldset>
      ))}
      {chosen && (
        <p role="status">
          Judge {all} as <strong>{chosen.name}</strong>?{" "}
          <button type="button" class="main" onClick={store}>
            <kbd>Enter</kbd> judge {all}
          </button>
        </p>
      )}
      <Told judging={judging} />
      {judging.saved.length > 0 && (
        <p>
          <button type="button" title={hint("undo")} onClick={takeBack}>
            <kbd>z</kbd> take all of it back
          </button>
        </p>
      )}
    </div>
  );
}
