// Review: one turn after the other, a key for each judgment.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { count, counted, percent, UNKNOWN } from "../parts/numbers";
import { Nothing, Problem, Waiting } from "../parts/states";
import { plain } from "../parts/text";
import { Turn } from "../parts/turn";
import type { ReviewQuery, Summary } from "../types";
import { param, replaceParams, setParams } from "../url";
import { useAsk } from "../use_ask";
import { Corrected } from "./review_corrected";
import { Judgments, Known } from "./review_known";
import { digitKeys, type Judgment, Verdicts, verdictKeys } from "./review_verdicts";
import { keyOf, Way, type When } from "./review_way";

function asked(): ReviewQuery {
  const stop = param("stop");
  return {
    queue: param("queue"),
    by: param("by"),
    project: param("project"),
    agent: param("agent"),
    order: param("order"),
    since: param("since"),
    until: param("until"),
    ...(stop ? { stop: stop.split(",") } : {}),
    odd: param("odd") === "1",
    sample: Number(param("sample")) || 0,
    seed: Number(param("seed")) || 0,
    each: param("each") === "1",
  };
}

export function Review() {
  const query = asked();
  return <Queue key={JSON.stringify(query)} query={query} />;
}

function Queue({ query }: { query: ReviewQuery }) {
  const way = useWay(query);
  const [scoring, setScoring] = useState(false);
  const note = useRef<HTMLTextAreaElement>(null);
  const level = Number(param("l")) || 2;
  const left = way.left.value;
  const item = way.item.value;
  const judge = (judgment: Judgment, when: When) => {
    setScoring(false);
    // The next turn follows a verdict; a score or a cleared flag is not the last word.
    const verdict = Boolean(judgment.outcome || judgment.flag);
    return way.judge(judgment, verdict && param("stay") !== "1", when);
  };
  const save = () => {
    const field = note.current;
    const text = field?.value.trim();
    if (!field || !text) return;
    void judge({ note: text }, "here").then(() => {
      if (!way.error.value) field.value = "";
    });
    field.blur();
  };
  const steps = {
    undo: () => void way.undo(),
    back: () => void way.back(),
    open: () => void way.next(),
    peek: () => void way.next(),
  };
  useKeys({
    ...steps,
    less: () => replaceParams({ l: String(Math.max(1, level - 1)) }),
    more: () => replaceParams({ l: String(Math.min(3, level + 1)) }),
    ...(item && {
      ...verdictKeys(({ judgment }) => void judge(judgment, "next")),
      score: () => setScoring(!scoring),
      // After `s` a digit is a score.
      ...(scoring && digitKeys(10, (score) => void judge({ score }, "next"))),
      annotate: () => note.current?.focus(),
      run: save,
      copyId: () => copy(item.turn.turn_id, "the turn's id"),
    }),
    peek: item && steps.peek,
    out: () => {
      if (scoring) return setScoring(false);
      if (document.activeElement !== note.current) return false;
      return note.current?.blur();
    },
  });
  useStatus(
    commandLine(["review", left?.queue ?? query.queue ?? ""], { author: left?.by ?? "" }),
    left?.waiting ? `${counted(left.waiting, "judgment")} not landed yet` : "",
  );
  return (
    <div class="review">
      <h1>Review</h1>
      <Head way={way} query={query} />
      {way.error.value && (
        <Problem message={way.error.value} again={!left && (() => void way.start(null))} />
      )}
      {item ? (
        <div class="judging" aria-busy={way.busy.value}>
          <div class="read">
            <Turn key={item.turn.turn_id} turn={item.turn} level={level} />
            <Known item={item} />
          </div>
          <aside aria-label="Judging">
            <Verdicts
              item={item}
              by={left?.by ?? ""}
              scoring={scoring}
              judge={(judgment) => void judge(judgment, "now")}
              steps={steps}
            />
            <label class="note">
              Note <kbd>e</kbd>
              <textarea ref={note} rows={2} />
            </label>
            <button type="button" onClick={save}>
              Save the note
            </button>
            <Corrected
              key={item.turn.turn_id}
              item={item}
              judge={(judgment) => judge(judgment, "here")}
            />
            <Judgments item={item} />
          </aside>
        </div>
      ) : way.ended.value ? (
        <End way={way} query={query} />
      ) : (
        !way.error.value && <Waiting rows={8} />
      )}
    </div>
  );
}

/** The way through this queue; the address says where it is. */
function useWay(query: ReviewQuery): Way {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query is another component.
  const way = useMemo(
    () =>
      new Way(query, (place) => replaceParams({ of: place?.project ?? "", at: place?.turn ?? "" })),
    [],
  );
  const of = param("of");
  const at = param("at");
  useEffect(() => {
    const place = at ? { project: of, turn: at } : null;
    if (!way.left.value) void way.start(place);
    else if (place && way.place.value && keyOf(place) !== keyOf(way.place.value))
      void way.goTo(place);
  }, [way, of, at]);
  return way;
}

/** What the queues hold that come with Turnspan (`turnspan review --help`). */
const QUEUES: Readonly<Record<string, string>> = {
  unassessed: "not judged, oldest first",
  dearest: "not judged, most expensive first",
  odd: "not completed, newest first",
  sample: "a random sample",
};

function Head({ way, query }: { way: Way; query: ReviewQuery }) {
  const left = way.left.value;
  const { answer } = useAsk("GET /api/review/queues", { by: query.by ?? "" });
  const still = way.stillLeft.value;
  const judged = (left?.turns ?? 0) - still;
  return (
    <div class="switches">
      <label>
        Queue{" "}
        <select
          value={left?.queue ?? ""}
          onChange={(event) => setParams({ queue: event.currentTarget.value, of: "", at: "" })}
        >
          {(answer?.queues ?? []).map((one) => (
            <option key={one.name} value={one.name}>
              {QUEUES[one.name] ?? plain(one.name)} ({count(one.left)} left)
            </option>
          ))}
        </select>
      </label>
      <label>
        Reviewer{" "}
        <input
          value={left?.by ?? query.by ?? ""}
          maxLength={200}
          onChange={(event) => setParams({ by: event.currentTarget.value.trim(), of: "", at: "" })}
        />
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={param("stay") !== "1"}
          onChange={(event) => setParams({ stay: event.currentTarget.checked ? "" : "1" })}
        />
        Show the next turn after a verdict
      </label>
      {left && (
        <>
          <progress
            max={Math.max(1, left.turns)}
            value={judged}
            aria-label={`${judged} of ${left.turns} judged`}
          />
          <span class="progress">
            {count(judged)} of {count(left.turns)} · {count(still)} left
            {way.pace.value !== null && ` · ${way.pace.value.toFixed(1)} s each`}
          </span>
        </>
      )}
    </div>
  );
}

function End({ way, query }: { way: Way; query: ReviewQuery }) {
  const asked = useAsk("GET /api/review/summary", query);
  const skipped = way.skipped.value;
  const summary = asked.answer;
  return (
    <Nothing title="Nothing is left in this queue.">
      {skipped > 0 && (
        <p>
          {counted(skipped, "turn")} skipped.{" "}
          <button type="button" onClick={() => void way.again()}>
            Show them again
          </button>
        </p>
      )}
      {summary && (
        <dl class="totals">
          {totals(summary).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        Export a training set: <code>turnspan export sft --to sets/good</code>.{" "}
        <button type="button" onClick={() => void way.back()}>
          Go back
        </button>
      </p>
    </Nothing>
  );
}

function totals({ outcomes, scores, mean_score, both, alike }: Summary): string[][] {
  const mean = mean_score === null ? "" : `, ${mean_score.toFixed(1)} on average`;
  return [
    ...Object.entries(outcomes).map(([outcome, turns]) => [plain(outcome), count(turns)]),
    ["scored", `${count(scores)}${mean}`],
    ["agree with the passive signal", both ? `${percent(alike / both)} of ${both}` : UNKNOWN],
  ];
}
