// How do turns end, what do they cost, is it getting worse, where do I look?
import { term } from "../filter_text";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { colorsOf, OTHER } from "../parts/colors";
import { commandLine } from "../parts/copy";
import { Diagnosed } from "../parts/diagnosed";
import { kindOfEnd } from "../parts/end";
import { TERMS } from "../parts/glossary";
import { Icon } from "../parts/icon";
import { count, counted, dollars, percent, seconds } from "../parts/numbers";
import { Panel, usePanelKeys } from "../parts/panel";
import { Plot, Swatch, tables } from "../parts/plot";
import { Segments } from "../parts/segments";
import { Answered, Refused } from "../parts/states";
import { plain } from "../parts/text";
import { isProblem } from "../replay/rows";
import type { EndCount, Ends, LookAts, ModelCost, Trend } from "../types";
import { param, setParams, windowQuery, withParams } from "../url";
import { useAsk } from "../use_ask";
import { FigureRow } from "./overview_figures";
import { Empty } from "./welcome";

/** The diagnostics of the last card: name, title, and columns of their answer. */
const DIAGNOSTICS = [
  [
    "errors_by_type",
    "Errors",
    "source",
    "name",
    "error",
    "times",
    "first_time",
    "last_time",
    "last_span",
  ],
  ["failing_tools", "Failing tools", "tool", "failures", "calls", "failure_rate", "usual_error"],
  ["expensive_calls", "Expensive calls", "time", "model", "cost_usd", "input_tokens", "span"],
  ["slow_calls", "Slow calls", "time", "model", "duration_seconds", "output_tokens", "span"],
] as const;

export function Overview() {
  const query = windowQuery();
  const ends = useAsk("GET /api/overview/ends", query);
  const trend = useAsk("GET /api/overview/trend", query);
  const looks = useAsk("GET /api/overview/looks", query);
  const total = trend.answer?.total;
  useStatus(commandLine(["diagnose"], query), total ? counted(total.turns, "turn") : "");
  const table = () => {
    tables.value = !tables.value;
  };
  useKeys({ table });
  usePanelKeys();
  if (total?.turns === 0 && !trend.stale) return <Empty />;
  if (trend.error && !trend.answer) {
    return (
      <>
        <h1>Overview</h1>
        <Refused error={trend.error} />
      </>
    );
  }
  return (
    <>
      <h1>Overview</h1>
      <Answered asked={trend} rows={3}>
        {(answer) => <FigureRow trend={answer} />}
      </Answered>
      <div class="panels overview">
        <Panel
          title="How turns ended"
          question={`Stop reason: ${TERMS["stop reason"]}`}
          sql={ends.answer?.sql}
          look="half"
        >
          <Answered asked={ends} rows={10}>
            {(answer) => (
              <div class="beside">
                <div>{trend.answer && <EndsOverTime trend={trend.answer} />}</div>
                <EndBars answer={answer} />
              </div>
            )}
          </Answered>
        </Panel>
        <Panel title="Cost by model" sql={trend.answer?.models_sql} look="half">
          <Answered asked={trend} rows={10}>
            {(answer) => (
              <div class="beside">
                <div>
                  <Costs trend={answer} />
                </div>
                <ModelCosts models={answer.models} />
              </div>
            )}
          </Answered>
        </Panel>
        <Panel title="Duration of turns" sql={trend.answer?.sql} look="half">
          <Answered asked={trend} rows={8}>
            {(answer) => <Durations trend={answer} />}
          </Answered>
        </Panel>
        <Panel title="What to look at" sql={looks.answer?.sql} look="half">
          <Answered asked={looks} rows={3}>
            {(answer) => <Looks answer={answer} />}
          </Answered>
        </Panel>
        <Diagnostics />
      </div>
    </>
  );
}

/** The turns of a stretch of time that a filter lets through. */
function turnsOf({ buckets }: Trend, at: number, f: string): string {
  return withParams(["turns"], {
    f,
    since: buckets[at]?.since ?? "",
    until: buckets[at]?.until ?? "",
  });
}

function EndsOverTime({ trend }: { trend: Trend }) {
  return (
    <Plot
      label="Turns by how they ended, over time"
      times={trend.buckets.map(({ time }) => time)}
      width={trend.width_seconds}
      series={trend.ends.map(({ end, turns }) => ({
        label: kindOfEnd(end).words,
        color: kindOfEnd(end).color,
        values: turns,
      }))}
      bars
      written={whole}
      target={(stretch, at) => {
        const end = at === null ? undefined : trend.ends[at]?.end;
        return turnsOf(trend, stretch, end === undefined ? "" : term("stop", end));
      }}
      unnamed
    />
  );
}

/** A number of turns; an axis has no halves of them. */
function whole(value: number | null): string {
  return value !== null && !Number.isInteger(value) ? "" : count(value);
}

function EndBars({ answer }: { answer: Ends }) {
  const most = Math.max(...answer.ends.map((row) => row.turns), 1);
  return (
    <table class="bars">
      <caption class="hidden">Turns by how they ended</caption>
      <tbody>
        {answer.ends.map((row) => (
          <EndBar key={row.end} row={row} most={most} />
        ))}
      </tbody>
    </table>
  );
}

function EndBar({ row, most }: { row: EndCount; most: number }) {
  const { color, icon, tone, words } = kindOfEnd(row.end);
  return (
    <tr>
      <th scope="row">
        <a
          href={withParams(["turns"], { f: term("stop", row.end) })}
          title={`Stored as ${plain(row.end)}`}
          data-problem={isProblem(row.end) || undefined}
        >
          <span class={tone}>
            <Icon name={icon} />
          </span>{" "}
          {words}
        </a>
      </th>
      <td class="bar">
        <span
          class="fill"
          style={{ width: `${(row.turns / most) * 100}%`, color: `var(${color})` }}
        />
      </td>
      <td class="number">{count(row.turns)}</td>
      <td class="number">{row.share === null ? "" : percent(row.share)}</td>
      <td class="faint" title="In the period before, which is as long">
        {trendOf(row)}
      </td>
    </tr>
  );
}

function trendOf({ turns, before }: EndCount): string {
  if (before === null || turns === before) return "";
  return before === 0 ? "new" : `was ${count(before)}`;
}

function Costs({ trend }: { trend: Trend }) {
  if (trend.total.cost_usd === null) {
    return <p class="faint">The cost of these turns is unknown: their models have no price.</p>;
  }
  const colors = colorsOfModels(trend.models);
  return (
    <Plot
      label="Cost by model, over time"
      times={trend.buckets.map(({ time }) => time)}
      width={trend.width_seconds}
      series={trend.models.map((one, at) => ({
        label: nameOf(one),
        color: colors[at] ?? OTHER,
        values: one.costs,
      }))}
      bars
      written={dollars}
      target={(stretch, at) => {
        const models = at === null ? undefined : trend.models[at];
        return turnsOf(trend, stretch, models ? filterOf(models) : "cost>0");
      }}
      unnamed
    />
  );
}

function ModelCosts({ models }: { models: readonly ModelCost[] }) {
  const rows = models.map((one) => ({
    ...one,
    cost: one.costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
  }));
  const all = rows.reduce((sum, { cost }) => sum + cost, 0);
  const colors = colorsOfModels(models);
  return (
    <table class="bars">
      <caption class="hidden">Cost by the models of a turn</caption>
      <tbody>
        {rows.map((row, at) => (
          <tr key={row.models}>
            <th scope="row">
              <Swatch color={colors[at] ?? OTHER} />{" "}
              {row.models ? (
                <a href={withParams(["turns"], { f: filterOf(row) })}>{nameOf(row)}</a>
              ) : (
                nameOf(row)
              )}
            </th>
            <td class="number">{dollars(row.cost)}</td>
            <td class="number">{all ? percent(row.cost / all) : ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `null` is the last one: all others. */
function colorsOfModels(models: readonly ModelCost[]): string[] {
  return colorsOf(models.flatMap((one) => one.models ?? []));
}

function nameOf({ models }: ModelCost): string {
  return models === null ? "all others" : plain(models) || "no model named";
}

function filterOf({ models }: ModelCost): string {
  if (!models) return "cost>0";
  return models
    .split(" + ")
    .map((name) => term("model", name))
    .join(" ");
}

const MINUTE = 60;
const HOUR = 3_600;
/** Seconds between two ticks. */
const STEPS = [
  ...[0.001, 0.01, 0.1, 1].flatMap((one) => [one, 2 * one, 5 * one]),
  ...[10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((one) => one * MINUTE),
  ...[1, 2, 6, 12, 24, 48, 240, 1_000, 10_000].map((one) => one * HOUR),
];

function Durations({ trend }: { trend: Trend }) {
  const of = (figure: "p50_seconds" | "p95_seconds") =>
    trend.buckets.map(({ figures }) => figures[figure]);
  return (
    <Plot
      label="How long turns took, over time"
      times={trend.buckets.map(({ time }) => time)}
      width={trend.width_seconds}
      series={[
        { label: "95% of turns took less", color: "--c6", values: of("p95_seconds") },
        { label: "half of turns took less (median)", color: "--c1", values: of("p50_seconds") },
        {
          label: "95% of streamed calls had their first token by",
          color: "--c3",
          values: trend.first_token_p95,
          dashed: true,
        },
      ].filter(({ values }) => values.some((value) => value !== null))}
      written={(value) => (value === 0 ? "0" : seconds(value))}
      steps={STEPS}
      target={(stretch) => turnsOf(trend, stretch, "")}
    />
  );
}

function Looks({ answer }: { answer: LookAts }) {
  return (
    <ul class="looks">
      {answer.found.map((one) => (
        <li key={one.name}>
          <a href={withParams(["turns"], { f: term("look", one.name) })}>
            {counted(one.turns, "turn")}
          </a>{" "}
          {one.meaning}
          {one.agent && <span class="faint"> · mostly {plain(one.agent)}</span>}
        </li>
      ))}
      {answer.found.length === 0 && (
        <li class="faint">
          <Icon name="check" /> Nothing unusual in this time.
        </li>
      )}
    </ul>
  );
}

/** One card: what is shown in it stands in the address. */
function Diagnostics() {
  const tab = param("tab");
  const [name, title, ...columns] = DIAGNOSTICS.find(([name]) => name === tab) ?? DIAGNOSTICS[0];
  const tabs = (
    <Segments
      label="Shown"
      choices={DIAGNOSTICS.map(([one, words]) => [one, words] as const)}
      value={name}
      choose={(one) => setParams({ tab: one === DIAGNOSTICS[0][0] ? "" : one })}
    />
  );
  return <Diagnosed key={name} name={name} title={title} columns={columns} head={tabs} />;
}
