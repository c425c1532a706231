// Anything else: SQL of one's own, which reads the records and nothing else.
import { useEffect, useRef, useState } from "preact/hooks";
import { AskError, ask, isTrouble } from "../api";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import { commandLine } from "../parts/copy";
import { written } from "../parts/diagnosed";
import { counted } from "../parts/numbers";
import { Downloads } from "../parts/rows_shown";
import { Nothing } from "../parts/states";
import { plain, visible } from "../parts/text";
import type { SqlAnswer } from "../types";
import { param, setParams } from "../url";
import { useAsk } from "../use_ask";

const FIRST = `SELECT stop_reason, count() AS turns, sum(cost_usd) AS cost_usd
FROM turn_summary
WHERE parent_turn_id = ''
GROUP BY stop_reason
ORDER BY turns DESC`;
const PAGE = 200;

interface Run {
  readonly answer: SqlAnswer | null;
  readonly error: AskError | null;
  readonly running: boolean;
}

const NOT_RUN: Run = { answer: null, error: null, running: false };

export function Sql() {
  const asked = param("q");
  const [text, setText] = useState(asked || FIRST);
  const [run, setRun] = useState<Run>(NOT_RUN);
  const field = useRef<HTMLTextAreaElement>(null);
  const latest = useRef<AbortController | null>(null);

  const start = (sql: string) => {
    latest.current?.abort();
    const leaving = new AbortController();
    latest.current = leaving;
    setRun((now) => ({ ...now, error: null, running: true }));
    ask("POST /api/sql", { sql, parameters: parameters() }, leaving.signal)
      .then(({ answer }) => setRun({ answer, error: null, running: false }))
      .catch((error: unknown) => {
        if (leaving.signal.aborted) return;
        const known = error instanceof AskError ? error : new AskError(String(error), 0);
        setRun((now) => ({ ...now, error: known, running: false }));
      });
  };
  // What comes by an address is shown and run: it can only read.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another address starts it.
  useEffect(() => {
    if (asked) {
      setText(asked);
      start(asked);
    }
    return () => latest.current?.abort();
  }, [asked]);

  const submit = () => {
    if (text === asked) start(text);
    else setParams({ q: text });
    return true;
  };
  useKeys({
    run: submit,
    find: () => field.current?.focus(),
    out: () => field.current?.blur(),
  });
  useStatus(commandLine(["sql", text]), run.answer ? counted(run.answer.rows.length, "row") : "");
  return (
    <>
      <h1>SQL</h1>
      <div class="with-facets">
        <Tables choose={(sql) => setParams({ q: sql })} />
        <div>
          <label class="editor">
            <span class="hidden">Statement</span>
            <textarea
              ref={field}
              rows={Math.min(16, Math.max(5, text.split("\n").length + 1))}
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <p class="actions">
            <button type="button" class="main" title={hint("run")} onClick={submit}>
              Run
            </button>
            <span class="faint" role="status">
              {run.running ? "Running …" : run.answer ? took(run.answer) : limits}
            </span>
            {run.answer && <Downloads told={run.answer} />}
          </p>
          {run.error && !isTrouble(run.error) && (
            <div class="problem" role="alert">
              <p class="mono">{visible(run.error.message)}</p>
            </div>
          )}
          {run.answer && (
            <div class={run.running || run.error ? "stale" : undefined}>
              <Rows key={asked} answer={run.answer} />
            </div>
          )}
        </div>
      </div>
    </>
  );
}

const limits = "Reads the records and nothing else: 10 s, 1 GB and 10,000 rows at most.";

/** Values for what the statements that come with Turnspan leave open. */
function parameters(): Record<string, string> {
  return {
    project: param("project"),
    since: "1970-01-01 00:00:00",
    until: "2200-01-01 00:00:00",
    limit: "20",
  };
}

function took(answer: SqlAnswer): string {
  const rows = counted(answer.rows.length, "row");
  return `${rows}${answer.more ? ", and there are more" : ""} · ${answer.milliseconds.toFixed(0)} ms`;
}

function Tables({ choose }: { choose: (sql: string) => void }) {
  const { answer } = useAsk("GET /api/schema", {});
  return (
    <aside class="facets schema" aria-label="Tables and examples">
      <section>
        <h2>examples</h2>
        {answer?.examples.map((one) => (
          <button type="button" key={one.name} title={one.question} onClick={() => choose(one.sql)}>
            <span class="name">{one.title}</span>
          </button>
        ))}
      </section>
      <section>
        <h2>tables</h2>
        {answer?.tables.map((table) => (
          <details key={table.name}>
            <summary>{plain(table.name)}</summary>
            <ul>
              {table.columns.map((column) => (
                <li key={column.name} title={plain(`${column.type} ${column.comment}`)}>
                  {plain(column.name)} <span class="faint">{plain(column.type)}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </section>
    </aside>
  );
}

function Rows({ answer }: { answer: SqlAnswer }) {
  const [shown, setShown] = useState(PAGE);
  if (!answer.rows.length) return <Nothing title="No rows." />;
  const numbers = answer.types.map((type) => /^(Nullable\()?(U?Int|Float|Decimal)/.test(type));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard.
    <section class="result" tabIndex={0} aria-label="Rows">
      <table class="list">
        <thead>
          <tr>
            {answer.columns.map((name, at) => (
              <th
                key={String(at)}
                class={numbers[at] ? "number" : undefined}
                title={answer.types[at]}
              >
                {plain(name) || "–"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.rows.slice(0, shown).map((row, index) => (
            <tr key={String(index)} tabIndex={0}>
              {row.map((value, at) => (
                <td key={String(at)} class={numbers[at] ? "number" : "text"}>
                  {written(value, answer.columns[at] ?? "", row, answer.columns)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {answer.rows.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + PAGE)}>
          {counted(answer.rows.length - shown, "more row")}
        </button>
      )}
    </section>
  );
}
