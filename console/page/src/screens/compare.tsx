// Compare: two to six answers side by side, blind until their order is stored.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { Outcome, useJudging } from "../parts/judging";
import { counted } from "../parts/numbers";
import { Answered, Nothing } from "../parts/states";
import type { ComparedAnswers } from "../types";
import { param, replaceParams, setParams, toggleParam } from "../url";
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
import { digitKeys } from "./review_verdicts";

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
            <code>/compare?ids=ID,ID</code>. <code>turnspan compare ID ID</code> prints the same.
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
    if (blind && !seed) replaceParams({ seed: String(drawn()) });
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
    replaceParams({ lock: [...kept].join(",") });
    announce(`Answer ${on + 1} ${kept.has(id) ? "stays" : "may change"}`);
  };
  const others = async () => {
    if (shown.answers.some((one) => one.kind !== "turn"))
      return announce("Other answers are known only for turns.");
    try {
      const turn = ids[0] ?? "";
      const { answer } = await ask("GET /api/compare/alike", { turn, project });
      const next = exchanged(ids, locked, answer.turns);
      if (next.join() === ids.join()) announce("There are no other answers to this prompt.");
      else setParams({ ids: next.join(","), lock: [...kept].join(",") });
    } catch (error) {
      announce(asRefusal(error).message);
    }
  };
  const clear = () => {
    setTyped(NO_ORDER);
    setMode("");
    setReason("");
  };
  const by = shown.by;
  const store = (groups: Groups) =>
    save("order", JSON.stringify([groups, reason]), async (id) => {
      const ordered = groups.map((group) => group.map(idOf));
      const order = { groups: ordered, by, id, project, reason: reason.trim() };
      const { answer } = await ask("POST /api/compare/order", order);
      clear();
      const stored = answer.pairs.filter((pair) => !pair.why_not).length;
      const refused = answer.pairs.length - stored;
      const words = `${counted(stored, "preference")} stored${refused ? `, ${refused} refused` : ""}`;
      return { ...answer, words };
    });
  const allBad = () =>
    save("bad", "", async (id) => {
      const { answer } = await ask("POST /api/compare/all-bad", { ids, by, id, project });
      return { ...answer, words: "All rejected" };
    });
  const judgeOne = (
    judgment: { score?: number; directive?: string },
    words: string,
    done = () => {},
  ) => {
    const answer = shown.answers[answerOf(on)];
    setMode("");
    if (!answer) return;
    save("one", JSON.stringify([answer.id, judgment]), async (id) => {
      const subjects = [{ kind: answer.kind, id: answer.id, project: answer.project }];
      const stored = await ask("POST /api/judge", { subjects, by, id, ...judgment });
      done();
      return { ...stored.answer, words: `Answer ${on + 1}: ${words}` };
    });
  };
  const score = (points: number) => {
    const id = idOf(on);
    judgeOne({ score: points }, `score ${points}`, () =>
      setScores((now) => new Map(now).set(id, points)),
    );
  };
  const direct = (text: string, once: boolean) => {
    if (text && lineages.direct(shown.answers[answerOf(on)], text, once)) setMode("");
    else if (text) judgeOne({ directive: text }, "directive stored");
    else setMode("");
  };
  const choose = (column: number) => {
    if (mode === "order") setTyped((now) => withColumn(now, column));
    else if (mode === "pick") setTyped({ groups: onlyBest(column, count), tie: false });
    setOn(column);
  };
  const undo = () => {
    if (typed.groups.length) return setTyped(shorter);
    setScores(new Map());
    return takeBack();
  };
  const begin = (next: Mode) => () => {
    setTyped(NO_ORDER);
    setMode(next);
  };
  const acts = {
    order: begin("order"),
    pick: begin("pick"),
    score: () => setMode(mode === "score" ? "" : "score"),
    bothBad: allBad,
    lock,
    evolve: lineages.evolve,
    others: () => void others(),
    directive: () => setMode(mode === "directive" ? "" : "directive"),
    undo,
  };
  useKeys({
    ...acts,
    ...(mode === "score" ? digitKeys(10, score) : digitKeys(count, (digit) => choose(digit - 1))),
    back: () => toggleParam("blind", "0"),
    changed: () => toggleParam("marks", "0"),
    copyId: () =>
      hidden
        ? announce("Names are hidden until the order is stored")
        : copy(idOf(on), "the answer's id"),
    tie: mode === "order" && (() => setTyped((now) => ({ ...now, tie: true }))),
    open: typed.groups.length > 1 && (() => store(typed.groups)),
    annotate: typed.groups.length > 1 && (() => why.current?.focus()),
    out: () => (mode || typed.groups.length ? clear() : false),
  });
  return (
    <div class="compare" aria-busy={busy}>
      <Switches />
      <Prompts shown={shown} />
      {/* Without its seed the order is not known: columns would be seen to change places. */}
      {(seed > 0 || !blind) && (
        <Columns
          answers={places.flatMap((at) => shown.answers[at] ?? [])}
          lineOf={lineages.lineOf}
          on={on}
          choose={choose}
          hidden={hidden}
          locked={locked}
          scores={scores}
        />
      )}
      <section class="order" aria-label="Order">
        <Ways mode={mode} acts={acts} />
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
        {(mode === "order" || mode === "pick" || typed.groups.length > 0) && (
          <p>
            {mode === "pick" ? "The best: " : "Order: "}
            <output>{written(typed) || "press the numbers, best first; = for a tie"}</output>
          </p>
        )}
        {pairs.length > 0 && (
          <p>
            {"Pairs to store: "}
            {pairs.map(({ chosen, rejected, why }) => (
              <span key={`${chosen} ${rejected}`} class={why ? "refused" : "pair"} title={why}>
                {chosen + 1} over {rejected + 1}
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
              <kbd>e</kbd> reason, stored with each pair:{" "}
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
        <Outcome judging={judging} />
      </section>
    </div>
  );
}

/** A seed that is not 0. */
function drawn(): number {
  return 1 + ((crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % 1_000_000);
}

const SWITCHES = [
  ["blind", "Blind until stored", "b"],
  ["marks", "Mark differences", "d"],
  ["linked", "Scroll together", ""],
] as const;

function Switches() {
  return (
    <div class="switches">
      {SWITCHES.map(([name, words, key]) => (
        <label key={name} class="tick">
          <input
            type="checkbox"
            checked={param(name) !== "0"}
            onChange={() => toggleParam(name, "0")}
          />
          {words} {key && <kbd>{key}</kbd>}
        </label>
      ))}
    </div>
  );
}
