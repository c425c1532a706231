// Anything else: SQL of one's own, which reads the records and nothing else.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import type { TextField } from "../lazy/editor";
import { commandLine } from "../parts/copy";
import { counted } from "../parts/numbers";
import { Downloads } from "../parts/rows_shown";
import { Segments } from "../parts/segments";
import { Nothing, Problem } from "../parts/states";
import { plain } from "../parts/text";
import { chartOf, choicesOf } from "../sql/chart";
import { Chart, ChartPicker, chartChoice } from "../sql/chart_view";
import type { Words } from "../sql/completions";
import { StatementField } from "../sql/field";
import { Parameters, parametersOf, valuesOf } from "../sql/parameters";
import { SqlError } from "../sql/problem";
import { Rows } from "../sql/rows";
import { type Run, useRun } from "../sql/run";
import { Save } from "../sql/save";
import { Tables } from "../sql/tables";
import type { SavedSql, SchemaAnswer, SqlAnswer, SqlQuery } from "../types";
import { param, setParams } from "../url";
import { useAsk } from "../use_ask";

const FIRST = `SELECT stop_reason, count() AS turns, sum(cost_usd) AS cost_usd
FROM turn_summary
WHERE parent_turn_id = ''
GROUP BY stop_reason
ORDER BY turns DESC`;

const VIEWS = { "": "Table", chart: "Chart", plan: "Plan" } as const;
type View = keyof typeof VIEWS;

export function Sql() {
  const [saved, setSaved] = useSaved();
  const name = param("saved");
  const known = saved?.find((one) => one.name === name)?.sql ?? "";
  const asked = (param("q") || known).replace(/\r\n?/g, "\n");
  const view = param("view") in VIEWS ? (param("view") as View) : "";
  const values = JSON.stringify(valuesOf(asked));

  const [text, setText] = useState(asked || FIRST);
  const run = useRun();
  const plan = useRun();
  const shown = view === "plan" ? plan : run;
  const field = useRef<TextField | null>(null);
  const { answer: schema } = useAsk("GET /api/schema", {});
  const words = useWords(schema);

  const question = (sql: string): SqlQuery => ({
    sql,
    parameters: valuesOf(sql),
    plan: view === "plan",
  });
  // What comes by an address is shown and run: it can only read.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another question starts it.
  useEffect(() => {
    if (!asked) return;
    setText(asked);
    field.current?.setText(asked);
    const query = question(asked);
    if (JSON.stringify(query) !== JSON.stringify(shown.asked)) shown.start(query);
  }, [asked, values, view === "plan"]);

  const submit = () => {
    if (text === asked) shown.start(question(text));
    else setParams({ q: text === known ? "" : text });
    return true;
  };
  useKeys({
    run: submit,
    find: () => field.current?.focus(),
    table: () => setParams({ view: view === "" ? "chart" : "" }),
    out: () => {
      if (shown.cancel()) announce("Cancelled");
      else if (field.current?.focused) field.current.leave();
      else return false;
      return true;
    },
  });
  useStatus(command(text, text === known ? name : ""), rowsOf(run.answer));
  const unknown = name && saved && !known && !param("q");
  return (
    <>
      <h1>SQL</h1>
      <div class="with-facets">
        <Tables schema={schema} saved={saved ?? []} chosen={name} choose={setParams} />
        <div>
          {unknown && (
            <Problem message={`No statement is saved as “${name}”: choose a saved one.`} />
          )}
          <StatementField
            text={text}
            words={words}
            problem={shown.asked?.sql === text ? shown.problem : null}
            changed={setText}
            control={field}
          />
          <Parameters sql={text} />
          <div class="actions">
            <button type="button" class="primary" title={hint("run")} onClick={submit}>
              Run
            </button>
            <Views view={view} />
            <span class="faint" role="status">
              {shown.running ? "Running … Esc cancels" : took(shown.answer)}
            </span>
            {run.answer && <Downloads table={run.answer} />}
            <Save
              sql={text}
              name={name}
              known={saved ?? []}
              saved={(as, queries) => {
                setSaved(queries);
                setParams({ saved: as, q: "" });
              }}
            />
          </div>
          <SqlError
            run={shown}
            text={text}
            select={(from, to) => field.current?.select(from, to)}
            replace={(from, to, instead) => field.current?.replace(from, to, instead)}
          />
          <Answer key={`${asked} ${view}`} run={shown} view={view} />
        </div>
      </div>
    </>
  );
}

function useSaved(): [readonly SavedSql[] | null, (queries: readonly SavedSql[]) => void] {
  const { answer } = useAsk("GET /api/sql/saved", {});
  const [changed, setChanged] = useState<readonly SavedSql[] | null>(null);
  return [changed ?? answer?.queries ?? null, setChanged];
}

/** What can be completed; the parameters are those of the questions that come with Turnspan. */
function useWords(schema: SchemaAnswer | null): Words {
  const { answer } = useAsk("GET /api/sql/functions", {});
  return useMemo(() => {
    const examples = schema?.examples.map((one) => one.sql).join("\n") ?? "";
    return {
      tables: schema?.tables ?? [],
      functions: answer?.functions ?? [],
      parameters: [...parametersOf(examples)].map(([name, type]) => `${name}:${type}`),
    };
  }, [schema, answer]);
}

const LIMITS = "Read-only: at most 10 s, 1 GB and 10,000 rows.";

function took(answer: SqlAnswer | null): string {
  if (!answer) return LIMITS;
  const more = answer.more ? ", more exist" : "";
  return `${rowsOf(answer)}${more} · ${answer.milliseconds.toFixed(0)} ms`;
}

function rowsOf(answer: SqlAnswer | null): string {
  return answer ? counted(answer.rows.length, "row") : "";
}

function command(text: string, saved: string): string {
  const options = Object.entries(valuesOf(text)).flatMap(([name, value]) => [
    "--param",
    `${name}=${value}`,
  ]);
  return commandLine(["sql", ...(saved ? ["--saved", saved] : [text]), ...options]);
}

function Views({ view }: { view: View }) {
  return (
    <Segments
      label="Shown as"
      choices={Object.entries(VIEWS).map(
        ([one, title]) =>
          [one, title, one === "plan" ? "The engine's query plan" : hint("table")] as const,
      )}
      value={view}
      choose={(one) => setParams({ view: one })}
    />
  );
}

function Answer({ run, view }: { run: Run; view: View }) {
  const { answer } = run;
  const choice = chartChoice();
  const { kind, across, value, split } = choice;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts of the choice are what it is.
  const chart = useMemo(
    () => (view === "chart" && answer ? chartOf(answer, choice) : null),
    [view, answer, kind, across, value, split],
  );
  if (!answer) return null;
  return (
    <div class={run.running || run.error ? "stale" : undefined}>
      {view === "chart" && answer.rows.length > 0 && (
        <ChartPicker choices={choicesOf(answer, choice)} shown={chart?.kind ?? ""} />
      )}
      {view === "plan" ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard.
        <pre class="result plan" tabIndex={0}>
          {answer.rows.map(([line]) => `${plain(String(line))}\n`)}
        </pre>
      ) : view === "chart" && chart ? (
        <Chart chart={chart} />
      ) : (
        <>
          {view === "chart" && answer.rows.length > 0 && (
            <Nothing title="These columns make no chart.">
              <p>A time and numbers make lines, a text and numbers bars.</p>
            </Nothing>
          )}
          <Rows answer={answer} />
        </>
      )}
    </div>
  );
}
