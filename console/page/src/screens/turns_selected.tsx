// What is done with the selected turns: compared, or all judged alike.
import { useState } from "preact/hooks";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import { useKeys } from "../keys";
import { CompareWith } from "../parts/compare_with";
import { Outcome, useJudging } from "../parts/judging";
import { KeyButton } from "../parts/key_button";
import { counted } from "../parts/numbers";
import { Downloads, rowsOf } from "../parts/rows_shown";
import { visible } from "../parts/text";
import type { TurnRow } from "../types";
import { go, param, withParams } from "../url";
import { Choices, type Verdict, verdictKeys } from "./review_verdicts";

const MOST_COMPARED = 6;
/** As many as one request judges. */
const MOST_JUDGED = 100;

interface Props {
  turns: readonly TurnRow[];
  clear: () => void;
}

export function Selected({ turns, clear }: Props) {
  const [judging, setJudging] = useState(false);
  const [naming, setNaming] = useState(false);
  const only = turns.length === 1 ? turns[0] : undefined;
  const comparable = turns.length > 1 && turns.length <= MOST_COMPARED;
  const judgeable = turns.length <= MOST_JUDGED;
  const compare = () => go(withParams(["compare"], { ids: turns.map(idOf).join(",") }));
  const judge = () => setJudging(true);
  useKeys({ compare: comparable && compare, judgeSelected: judgeable && judge, out: clear });
  return (
    <section class="selected" aria-label="Selected turns">
      <p>
        {counted(turns.length, "turn")} selected{" "}
        <KeyButton action="compare" act={compare} disabled={!comparable}>
          compare
        </KeyButton>{" "}
        {only && (
          <CompareWith
            kind="turn"
            project={only.project}
            id={only.turn}
            words={`turn ${only.turn}`}
          />
        )}{" "}
        <KeyButton action="judgeSelected" act={judge} disabled={!judgeable}>
          judge all
        </KeyButton>{" "}
        <Downloads name="selected" table={rowsOf(turns)} />{" "}
        <button type="button" onClick={() => setNaming(true)}>
          make a dataset
        </button>{" "}
        <KeyButton action="out" act={clear}>
          select none
        </KeyButton>
        {!judgeable && ` · at most ${MOST_JUDGED} are judged at once`}
      </p>
      {naming && <MakeDataset turns={turns} close={() => setNaming(false)} />}
      {judging && <JudgeAll turns={turns} close={() => setJudging(false)} />}
    </section>
  );
}

/** Names a dataset of them; what was made is said, and stays to be read. */
function MakeDataset({ turns, close }: { turns: readonly TurnRow[]; close: () => void }) {
  const [name, setName] = useState("");
  const [said, setSaid] = useState("");
  const [failed, setFailed] = useState(false);
  const project = turns[0]?.project ?? "";
  const mixed = turns.some((turn) => turn.project !== project);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const body = { name, project, turns: turns.map(idOf) };
      const { answer } = await ask("POST /api/datasets", body);
      const known = answer.is_new ? "" : "; nothing is new";
      const words = `${counted(answer.cases, "case")}, ${answer.with_expected} with an expected answer`;
      setFailed(false);
      setSaid(`${answer.dataset}: ${words}${known}`);
      announce(`Made ${answer.dataset}`);
    } catch (caught) {
      setFailed(true);
      setSaid(asRefusal(caught).message);
    }
  };
  return (
    <form class="saving" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && close()}>
      <label>
        Dataset{" "}
        <input
          type="text"
          maxLength={100}
          value={name}
          aria-invalid={failed}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="main" disabled={mixed}>
        Make
      </button>
      <button type="button" onClick={close}>
        Close
      </button>
      {mixed && "Select turns of one project."}
      {said && (
        <span class={failed ? "bad" : ""} role={failed ? "alert" : "status"}>
          {visible(said)}
        </span>
      )}
    </form>
  );
}

const idOf = ({ turn }: TurnRow) => turn;

/** One verdict on all of them: chosen, then confirmed, then taken back at once if it was wrong. */
function JudgeAll({ turns, close }: { turns: readonly TurnRow[]; close: () => void }) {
  const [chosen, setChosen] = useState<Verdict | null>(null);
  const by = param("by");
  const { judging, busy, save, takeBack } = useJudging(by);
  const all = counted(turns.length, "turn");
  const name = chosen?.judgment.outcome ?? `for training: ${chosen?.name}`;
  const store = () => {
    if (!chosen) return;
    const subjects = turns.map(({ turn, project }) => ({ kind: "turn", id: turn, project }));
    save(name, JSON.stringify(subjects), async (id) => {
      const { answer } = await ask("POST /api/judge", { subjects, by, id, ...chosen.judgment });
      setChosen(null);
      return { ...answer, words: `${counted(answer.given.length, "turn")} judged: ${name}` };
    });
  };
  useKeys({
    ...verdictKeys(setChosen),
    open: chosen && store,
    undo: judging.saved.length > 0 && takeBack,
    out: () => (chosen ? setChosen(null) : close()),
  });
  return (
    <div class="verdicts" aria-busy={busy}>
      <Choices isOn={(verdict) => verdict === chosen} choose={setChosen} />
      {chosen && (
        <p role="status">
          Judge {all} as <strong>{name}</strong>?{" "}
          <button type="button" class="main" onClick={store}>
            <kbd>Enter</kbd> judge {all}
          </button>
        </p>
      )}
      <Outcome judging={judging} />
      {judging.saved.length > 0 && (
        <p>
          <KeyButton action="undo" act={takeBack}>
            undo all
          </KeyButton>
        </p>
      )}
    </div>
  );
}
