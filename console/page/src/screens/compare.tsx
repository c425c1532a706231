// Compare: two to six answers side by side, blind until their order is stored.
import { useEffect, useRef, useState } from "preact/hooks";
import { type AskError, ask } from "../api";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { type Action, type Handlers, useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { Told, useJudging } from "../parts/judging";
import { counted } from "../parts/numbers";
import { Answered, Nothing } from "../parts/states";
import type { ComparedAnswer, ComparedAnswers } from "../types";
import { param, setParams } from "../url";
import { useAsk } from "../use_ask";
import { Columns, Prompts } from "./compare_columns";
import { useLineages } from "./compare_lineages";
import {
  exchanged,
  type Groups,
  NO_ORDER,
  onlyBest,
  pairsOf,
  shorter,
  shuffled,
  type Typed,
  withColumn,
  written,
} from "./compare_order";
import { Directive, LONGEST, type Mode, Ways } from "./compare_ways";

const DIGITS = ["one", "two", "three", "four", "five", "six"] as const;
const SCORES: readonly Action[] = [...DIGITS, "seven", "eight", "nine", "zero"];

export function Compare() {
  const ids = param("ids").split(",").filter(Boolean);
  const query = { ids, project: param("project"), by: param("by") };
  const asked = useAsk("GET /api/compare", ids.length > 1 ? query : null);
  useStatus(commandLine(["compare", ...ids]));
  return (
    <>
      <h1>Compare</h1>
      {ids.length < 2 ? (
        <Nothing title="Nothing to compare.">
          <p>
            Select two to six turns with <kbd>x</kbd> in Turns and press <kbd>C</kbd>, or name ids:{" "}
            <code>/compare?ids=ID,ID</code>. <code>turnspan compare ID ID</code> says the same.
          </p>
        </Nothing>
      ) : (
        <Answered asked={asked}>{(shown) => <Side key={ids.join(",")} shown={shown} />}</Answered>
      )}
    </>
  );
}

function Side({ shown }: { shown: ComparedAnswers }) {
  const count = shown.answers.length;
  const blind = param("blind") !== "0";
  const seed = Number(param("seed")) || 0;
  const [mode, setMode] = useState<Mode>("");
  const [typed, setTyped] = useState<Typed>(NO_ORDER);
  const [on, setOn] = useState(0);
  const [reason, setReason] = useState("");
  const why = useRef<HTMLInputElement>(null);
  const [scores, setScores] = useState<ReadonlyMap<string, number>>(new Map());
  const { judging, busy, save, takeBack } = useJudging(shown.by);
  const lineages = useLineages(shown, save);
  const hidden = blind && !judging.saved.length;
  useEffect(() => {
    if (blind && !seed) setParams({ seed: String(drawn()) }, { replace: true });
  }, [blind, seed]);
  const places = blind ? shuffled(count, seed) : shuffled(count, 0).sort((a, b) => a - b);
  const answerOf = (column: number) => places[column] ?? 0;
  const idOf = (column: number) => shown.answers[answerOf(column)]?.id ?? "";
  const pairs = pairsOf(typed.groups, answerOf, shown.no_pairs);
  const project = shown.answers[0]?.project ?? "";
  const ids = shown.answers.map((one) => one.id);
  const kept = new Set(
    param("lock")
      .split(",")
      .filter((id) => ids.includes(id)),
  );
  const locked = new Set([...kept, ...lineages.locked]);
  const lock = () => {
    if (lineages.lock(shown.answers[answerOf(on)], on + 1)) return;
    const id = idOf(on);
    if (!kept.delete(id)) kept.add(id);
    setParams({ lock: [...kept].join(",") }, { replace: true });
    announce(`Answer ${on + 1} ${kept.has(id) ? "stays" : "may change"}`);
  };
  const others = async () => {
    if (shown.answers.some((one) => one.kind !== "turn"))
      return announce("Only of turns the other answers are known.");
    try {
      const turn = ids[0] ?? "";
      const { answer } = await ask("GET /api/compare/alike", { turn, project });
      const next = exchanged(ids, locked, answer.turns);
      if (next.join() === ids.join()) announce("There are no other answers to this prompt.");
      else setParams({ ids: next.join(","), lock: [...kept].join(",") });
    } catch (error) {
      announce((error as AskError).message);
    }
  };
  const clear = () => {
    setTyped(NO_ORDER);
    setMode("");
    setReason("");
  };
  const store = (groups: Groups) =>
    save("order", JSON.stringify([groups, reason]), (id) =>
      ask("POST /api/compare/order", {
        groups: groups.map((group) => group.map(idOf)),
        by: shown.by,
        id,
        project,
        reason: reason.trim(),
      }).then(({ answer }) => {
        clear();
        const stored = answer.pairs.filter((one) => !one.why_not).length;
        const refused = answer.pairs.length - stored;
        return {
          given: answer.given,
          words: `${counted(stored, "preference")} stored${refused ? `, ${refused} refused` : ""}`,
        };
      }),
    );
  const allBad = () =>
    save("bad", "", (id) =>
      ask("POST /api/compare/all-bad", {
        ids: shown.answers.map((one) => one.id),
        by: shown.by,
        id,
        project,
      }).then(({ answer }) => ({ given: answer.given, words: "All of them rejected" })),
    );
  const judgeOne = (
    said: { score?: number; directive?: string },
    words: string,
    done = () => {},
  ) => {
    const answer = shown.answers[answerOf(on)];
    setMode("");
    if (!answer) return;
    save("one", JSON.stringify([answer.id, said]), (id) =>
      ask("POST /api/judge", { subjects: [subjectOf(answer)], by: shown.by, id, ...said }).then(
        ({ answer: stored }) => {
          done();
          return { given: stored.given, words: `Answer ${on + 1}: ${words}` };
        },
      ),
    );
  };
  const score = (given: number) => {
    const id = idOf(on);
    judgeOne({ score: given }, `score ${given}`, () =>
      setScores((now) => new Map(now).set(id, given)),
    );
  };
  const direct = (text: string, once: boolean) => {
    if (text && lineages.direct(shown.answers[answerOf(on)], text, once)) setMode("");
    else if (text) judgeOne({ directive: text }, "what to do differently is kept");
    else setMode("");
  };
  const choose = (column: number) => {
    if (mode === "order") setTyped((now) => withColumn(now, column));
    else if (mode === "best") setTyped({ groups: onlyBest(column, count), tie: false });
    setOn(column);
  };
  const undo = () => {
    if (typed.groups.length) return setTyped(shorter);
    setScores(new Map());
    return takeBack();
  };
  useKeys({
    ...digits(mode === "score" ? score : null, choose, count),
    order: () => begin("order"),
    pick: () => begin("best"),
    score: () => setMode(mode === "score" ? "" : "score"),
    bothBad: allBad,
    lock,
    evolve: lineages.evolve,
    others: () => void others(),
    directive: () => setMode(mode === "directive" ? "" : "directive"),
    undo,
    back: () => setParams({ blind: blind ? "0" : "" }, { replace: true }),
    changed: () => setParams({ marks: param("marks") ? "" : "0" }, { replace: true }),
    copyId: () => (hidden ? announce("Names are hidden until the order is stored") : copyId()),
    ...(mode === "order" ? { tie: () => setTyped((now) => ({ ...now, tie: true })) } : {}),
    ...(typed.groups.length > 1
      ? { open: () => store(typed.groups), annotate: () => why.current?.focus() }
      : {}),
    out: () => (mode || typed.groups.length ? clear() : false),
  });
  const begin = (what: Mode) => {
    setTyped(NO_ORDER);
    setMode(what);
  };
  const copyId = () => copy(idOf(on), "the answer's id");
  return (
    <div class="compare" aria-busy={busy}>
      <Switches blind={blind} />
      <Prompts shown={shown} />
      {/* Without its seed nobody knows the order yet: columns would be seen to change places. */}
      {(seed > 0 || !blind) && (
        <Columns
          answers={places.flatMap((at) => shown.answers[at] ?? [])}
          lineOf={lineages.lineOf}
          on={on}
          choose={choose}
          hidden={hidden}
          marks={param("marks") !== "0"}
          linked={param("linked") !== "0"}
          locked={locked}
          scores={scores}
        />
      )}
      <section class="order" aria-label="Order">
        <Ways
          mode={mode}
          begin={begin}
          allBad={allBad}
          undo={undo}
          score={() => setMode("score")}
          direct={() => setMode("directive")}
          lock={lock}
          evolve={lineages.evolve}
          others={() => void others()}
        />
        {mode === "score" && (
          <p>
            Score of answer {on + 1}: <kbd>1</kbd> … <kbd>9</kbd>, <kbd>0</kbd> for 10
          </p>
        )}
        {mode === "directive" && (
          <Directive
            key={on}
            place={on + 1}
            ofLineage={lineages.lineOf(shown.answers[answerOf(on)]) !== null}
            store={direct}
          />
        )}
        {(mode === "order" || mode === "best" || typed.groups.length > 0) && (
          <p>
            {mode === "best" ? "The best: " : "Order: "}
            <output>{written(typed) || "press the numbers, best first; = for a tie"}</output>
          </p>
        )}
        {pairs.length > 0 && (
          <p>
            {"Pairs that will be stored: "}
            {pairs.map(({ chosen, rejected, why }) => (
              <span key={`${chosen} ${rejected}`} class={why ? "refused" : "pair"} title={why}>
                {chosen + 1}≻{rejected + 1}
              </span>
            ))}
          </p>
        )}
        {pairs.length > 0 && (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              store(typed.groups);
            }}
          >
            <label>
              <kbd>e</kbd> why, kept with each pair:{" "}
              <input
                ref={why}
                type="text"
                maxLength={LONGEST}
                value={reason}
                onInput={(event) => setReason(event.currentTarget.value)}
              />
            </label>{" "}
            <button type="submit">
              <kbd>Enter</kbd> store
            </button>
          </form>
        )}
        <Told judging={judging} />
      </section>
    </div>
  );
}

function subjectOf({ kind, id, project }: ComparedAnswer) {
  return { kind, id, project };
}

/** A seed that is not 0. */
function drawn(): number {
  return 1 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 1_000_000);
}

/** What a digit does: a score after `s`, else it names a column. */
function digits(
  score: ((given: number) => void) | null,
  choose: (column: number) => void,
  count: number,
): Handlers {
  if (score) return Object.fromEntries(SCORES.map((key, at) => [key, () => score(at + 1)]));
  return Object.fromEntries(
    DIGITS.slice(0, count).map((key, column) => [key, () => choose(column)]),
  );
}

function Switches({ blind }: { blind: boolean }) {
  return (
    <div class="switches">
      <Switch name="blind" on={blind} words="Blind until stored" keys="b" />
      <Switch name="marks" on={param("marks") !== "0"} words="Mark what differs" keys="d" />
      <Switch name="linked" on={param("linked") !== "0"} words="Scroll together" keys="" />
    </div>
  );
}

function Switch(props: { name: string; on: boolean; words: string; keys: string }) {
  const { name, on, words, keys } = props;
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={on}
        onChange={() => setParams({ [name]: on ? "0" : "" }, { replace: true })}
      />
      {words} {keys && <kbd>{keys}</kbd>}
    </label>
  );
}
