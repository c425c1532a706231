// How do turns end, what do they cost, is it getting worse, where do I look?
import type * as Charts from "../charts";
import { term } from "../filter_text";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine } from "../parts/copy";
import { Diagnosed } from "../parts/diagnosed";
import { kindOfEnd } from "../parts/end";
import { count, counted, dollars, percent, seconds, UNKNOWN } from "../parts/numbers";
import { Panel, usePanelKeys } from "../parts/panel";
import { Plot, tables } from "../parts/plot";
import { Answered, Nothing } from "../parts/states";
import { plain } from "../parts/text";
import { isProblem } from "../replay/rows";
import type { EndCount, Ends, Figures, Trend } from "../types";
import { windowQuery, withParams } from "../url";
import { useAsk } from "../use_ask";

/** The diagnostics that are shown: name, title, and columns of their answer. */
const DIAGNOSTICS = [
  [
    "errors_by_type",
    "Errors by type",
    "source",
    "name",
    "error",
    "times",
    "first_time",
    "last_time",
  ],
  ["failing_tools", "Failing tools", "tool", "failures", "calls", "failure_rate", "usual_error"],
  ["expensive_calls", "Expensive model calls", "time", "model", "cost_usd", "input_tokens", "span"],
  ["slow_calls", "Slow model calls", "time", "model", "duration_seconds", "output_tokens", "span"],
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
  return (
    <>
      <h1>Overview</h1>
      <div class="panels">
        <Panel title="How turns end" sql={ends.answer?.sql}>
          <Answered asked={ends} rows={5}>
            {(answer) => <EndBars answer={answer} />}
          </Answered>
        </Panel>
        <Panel title={`Cost ${dollars(total?.cost_usd)}`} sql={trend.answer?.models_sql}>
          <Answered asked={trend} rows={5}>
            {(answer) => <Cost answer={answer} />}
          </Answered>
        </Panel>
        <Panel title={slow(total)} sql={trend.answer?.sql}>
          <Answered asked={trend} rows={5}>
            {(answer) => <Slow answer={answer} />}
          </Answered>
        </Panel>
        <Panel title="Look at these" sql={looks.answer?.sql}>
          <Answered asked={looks} rows={3}>
            {(answer) => (
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
                  <li class="faint">✓ Nothing unusual in this time.</li>
                )}
              </ul>
            )}
          </Answered>
        </Panel>
        {DIAGNOSTICS.map(([name, title, ...columns]) => (
          <Diagnosed key={name} name={name} title={title} columns={columns} />
        ))}
      </div>
    </>
  );
}

function slow(total: Figures | undefined): string {
  return `Slow: p50 ${seconds(total?.p50_seconds)} · p95 ${seconds(total?.p95_seconds)}`;
}

/** How much more or less than in the period before: `+18%`. */
function change(now: number | null | undefined, before: number | null | undefined): string {
  if (!now || !before) return "";
  const more = now / before - 1;
  return `${more < 0 ? "−" : "+"}${Math.abs(more * 100).toFixed(0)}% against the period before`;
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
  const { glyph, tone } = kindOfEnd(row.end);
  return (
    <tr>
      <th scope="row">
        <a
          href={withParams(["turns"], { f: term("stop", row.end) })}
          data-problem={isProblem(row.end) || undefined}
        >
          <span class={tone} aria-hidden="true">
            {glyph}
          </span>{" "}
          {plain(row.end)}
        </a>
      </th>
      <td class="bar">
        <span class={`fill ${tone}`} style={{ width: `${(row.turns / most) * 100}%` }} />
      </td>
      <td class="number">{count(row.turns)}</td>
      <td class="number">{row.share === null ? "" : percent(row.share)}</td>
      <td class="faint">{trendOf(row)}</td>
    </tr>
  );
}

function trendOf({ turns, before }: EndCount): string {
  if (before === null) return "";
  if (before === 0) return "new";
  return turns > before
    ? `↑ from ${count(before)}`
    : turns < before
      ? `↓ from ${count(before)}`
      : "=";
}

function Cost({ answer }: { answer: Trend }) {
  const { total, before } = answer;
  const cached = total.input_tokens ? (total.cached_tokens ?? 0) / total.input_tokens : null;
  return (
    <>
      <p class="faint">
        {[
          change(total.cost_usd, before?.cost_usd),
          `${count(total.input_tokens)} → ${count(total.output_tokens)} tokens`,
          `cached ${total.cached_tokens === null ? UNKNOWN : percent(cached)} of input`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <Plot
        label="Cost over time"
        times={answer.buckets.map((one) => one.time)}
        width={answer.width_seconds}
        series={answer.models.map(({ models, costs }, at) => ({
          label: modelsOf(models),
          color: models === null ? "--faint" : (COLORS[at] ?? "--faint"),
          bars: true,
          values: costs,
        }))}
        stacked
        written={dollars}
      />
    </>
  );
}

const COLORS = ["--link", "--tool", "--busy", "--warn", "--good"] as const;

function modelsOf(models: string | null): string {
  return models === null ? "all others" : plain(models) || "no model named";
}

function Slow({ answer }: { answer: Trend }) {
  return (
    <>
      <p class="faint">
        {change(answer.total.p95_seconds, answer.before?.p95_seconds) || "How long turns took"} ·
        first token p95 {seconds(answer.first_token_p95_seconds)}
      </p>
      <Plot
        label="How long turns took, over time"
        times={answer.buckets.map((one) => one.time)}
        width={answer.width_seconds}
        series={[
          series(answer, "p95", "--bad", (one) => one.p95_seconds),
          series(answer, "p50", "--link", (one) => one.p50_seconds),
        ]}
        written={seconds}
      />
    </>
  );
}

function series(
  answer: Trend,
  label: string,
  color: string,
  of: (figures: Figures) => number | null,
): Charts.Series {
  return { label, color, values: answer.buckets.map((one) => of(one.figures)) };
}

function Empty() {
  return (
    <Nothing title="No turns in this time." heading>
      <p>Add these lines before an agent runs, and look here again:</p>
      <pre>
        import turnspan{"\n"}turnspan.configure(){"\n"}turnspan.instrument()
      </pre>
      <p>
        Or play recorded ones: <code>turnspan demo</code>
      </p>
    </Nothing>
  );
}
