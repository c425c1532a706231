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
import { param, withParams } from "../url";
import { useAsk } from "../use_ask";

export function Overview() {
  const query = { project: param("project"), since: param("since"), until: param("until") };
  const ends = useAsk("GET /api/overview/ends", query);
  const trend = useAsk("GET /api/overview/trend", query);
  const looks = useAsk("GET /api/overview/looks", query);
  const total = trend.answer?.total;
  useStatus(commandLine(["diagnose"], query), total ? counted(total.turns, "turn") : "");
  useKeys({
    table: () => {
      tables.value = !tables.value;
    },
  });
  usePanelKeys();
  if (total?.turns === 0 && !trend.stale) return <Empty />;
  return (
    <>
      <h1>Overview</h1>
      <div class="panels">
        <Panel title="How turns end" sql={ends.answer?.sql}>
          <Answered asked={ends} rows={5}>
            {(told) => <EndBars told={told} />}
          </Answered>
        </Panel>
        <Panel title={`Cost ${dollars(total?.cost_usd)}`} sql={trend.answer?.models_sql}>
          <Answered asked={trend} rows={5}>
            {(told) => <Cost told={told} />}
          </Answered>
        </Panel>
        <Panel title={slow(total)} sql={trend.answer?.sql}>
          <Answered asked={trend} rows={5}>
            {(told) => <Slow told={told} />}
          </Answered>
        </Panel>
        <Panel title="Look at these" sql={looks.answer?.sql}>
          <Answered asked={looks} rows={3}>
            {(told) => (
              <ul class="looks">
                {told.found.map((one) => (
                  <li key={one.name}>
                    <a href={withParams(["turns"], { f: term("look", one.name) })}>
                      {counted(one.turns, "turn")}
                    </a>{" "}
                    {one.meaning}
                    {one.agent && <span class="faint"> · mostly {plain(one.agent)}</span>}
                  </li>
                ))}
                {told.found.length === 0 && <li class="faint">✓ Nothing odd in this time.</li>}
              </ul>
            )}
          </Answered>
        </Panel>
        <Diagnosed
          name="errors_by_type"
          title="Errors by type"
          columns={["source", "name", "error", "times", "first_time", "last_time"]}
        />
        <Diagnosed
          name="failing_tools"
          title="Failing tools"
          columns={["tool", "failures", "calls", "failure_rate", "usual_error"]}
        />
        <Diagnosed
          name="expensive_calls"
          title="Expensive model calls"
          columns={["time", "model", "cost_usd", "input_tokens", "span"]}
        />
        <Diagnosed
          name="slow_calls"
          title="Slow model calls"
          columns={["time", "model", "duration_seconds", "output_tokens", "span"]}
        />
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
  return `${more < 0 ? "−" : "+"}${Math.abs(more * 100).toFixed(0)}% on the period before`;
}

function EndBars({ told }: { told: Ends }) {
  const most = Math.max(...told.ends.map((one) => one.turns), 1);
  return (
    <table class="bars">
      <caption class="hidden">Turns by how they ended</caption>
      <tbody>
        {told.ends.map((one) => (
          <EndBar key={one.end} one={one} most={most} />
        ))}
      </tbody>
    </table>
  );
}

function EndBar({ one, most }: { one: EndCount; most: number }) {
  const { glyph, tone } = kindOfEnd(one.end);
  return (
    <tr>
      <th scope="row">
        <a
          href={withParams(["turns"], { f: term("stop", one.end) })}
          data-problem={isProblem(one.end) || undefined}
        >
          <span class={tone} aria-hidden="true">
            {glyph}
          </span>{" "}
          {plain(one.end)}
        </a>
      </th>
      <td class="bar">
        <span class={`fill ${tone}`} style={{ width: `${(one.turns / most) * 100}%` }} />
      </td>
      <td class="number">{count(one.turns)}</td>
      <td class="number">{one.share === null ? "" : percent(one.share)}</td>
      <td class="faint">{trendOf(one)}</td>
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

function Cost({ told }: { told: Trend }) {
  const { total, before } = told;
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
        times={told.buckets.map((one) => one.time)}
        width={told.width_seconds}
        series={told.models.map(({ models, costs }, at) => ({
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

function Slow({ told }: { told: Trend }) {
  return (
    <>
      <p class="faint">
        {change(told.total.p95_seconds, told.before?.p95_seconds) || "How long turns took"} · first
        token p95 {seconds(told.first_token_p95_seconds)}
      </p>
      <Plot
        label="How long turns took, over time"
        times={told.buckets.map((one) => one.time)}
        width={told.width_seconds}
        series={[
          series(told, "p95", "--bad", (one) => one.p95_seconds),
          series(told, "p50", "--link", (one) => one.p50_seconds),
        ]}
        written={seconds}
      />
    </>
  );
}

function series(
  told: Trend,
  label: string,
  color: string,
  of: (one: Figures) => number | null,
): Charts.Series {
  return { label, color, values: told.buckets.map((one) => of(one.figures)) };
}

function Empty() {
  return (
    <Nothing title="No turns in this time." heading>
      <p>Record some with two lines in front of an agent, and look here again:</p>
      <pre>
        import turnspan{"\n"}turnspan.configure(){"\n"}turnspan.instrument()
      </pre>
      <p>
        Or play recorded ones: <code>turnspan demo</code>
      </p>
    </Nothing>
  );
}
