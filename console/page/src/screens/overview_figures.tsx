// The first row of the overview: six figures, each with its course and its turns.
import type { ComponentChildren } from "preact";
import { TERMS } from "../parts/glossary";
import { Icon } from "../parts/icon";
import { compact, count, counted, dollars, percent, seconds } from "../parts/numbers";
import { Spark } from "../parts/spark";
import type { Figures, Trend } from "../types";
import { withParams } from "../url";

type Of = (figures: Figures) => number | null;

interface Props {
  name: string;
  value: string;
  children: ComponentChildren;
  /** The filter of its turns. */
  filter: string;
  trend: Trend;
  /** What its line and its change are of. */
  of: Of;
  /** Its tooltip. */
  title?: string;
  /** Whether more is better; where it is neither, more has no colour. */
  better?: "more" | "less";
}

export function FigureRow({ trend }: { trend: Trend }) {
  const { total } = trend;
  const completed: Of = (one) => share(one.completed, one.completed + one.problems);
  const failed = share(total.failed_tools, total.tools);
  const cached = share(total.cached_tokens, total.input_tokens);
  const slow = total.p95_seconds;
  return (
    <div class="figures">
      <Figure
        name="Turns"
        value={count(total.turns)}
        filter=""
        trend={trend}
        of={turnsOf}
        title={`A turn is ${TERMS.turn}`}
      >
        {counted(total.tools, "executed tool")}
      </Figure>
      <Figure
        name="Completed"
        value={written(completed(total), percent)}
        filter="stop:completed"
        trend={trend}
        of={completed}
        better="more"
      >
        {count(total.completed)} of {counted(total.completed + total.problems, "turn")} that ended
      </Figure>
      <Figure
        name="Cost"
        value={written(total.cost_usd, dollars)}
        filter="cost>0"
        trend={trend}
        of={({ cost_usd }) => cost_usd}
        better="less"
      >
        {total.cost_usd === null
          ? "the models have no price"
          : `${dollars(total.cost_usd / total.turns)} a turn`}
      </Figure>
      <Figure
        name="Median duration"
        value={written(total.p50_seconds, seconds)}
        filter={slow === null ? "" : `seconds>=${slow}`}
        trend={trend}
        of={({ p50_seconds }) => p50_seconds}
        better="less"
      >
        {slow === null ? "no turn has ended" : `95% took less than ${seconds(slow)}`}
      </Figure>
      <Figure
        name="Tokens"
        value={written(sumOf(total), compact)}
        filter="tokens>0"
        trend={trend}
        of={sumOf}
      >
        {cached === null ? "cache use not reported" : `${percent(cached)} of input from a cache`}
      </Figure>
      <Figure
        name="Failed tools"
        value={count(total.failed_tools)}
        filter="failures>0"
        trend={trend}
        of={({ failed_tools }) => failed_tools}
        better="less"
      >
        {failed === null ? "no tool was executed" : `${percent(failed)} of ${count(total.tools)}`}
      </Figure>
    </div>
  );
}

function Figure({ name, value, children, filter, trend, of, title, better }: Props) {
  const { before, buckets, total } = trend;
  return (
    <a class="figure" href={withParams(["turns"], { f: filter })} title={title}>
      <span class="faint">{name}</span>
      <span class="value">
        <b>{value}</b>
        {before && <Change now={of(total)} before={of(before)} better={better} />}
      </span>
      <span class="faint note">{children}</span>
      <Spark values={buckets.map(({ figures }) => of(figures))} />
    </a>
  );
}

interface ChangeProps {
  now: number | null;
  before: number | null;
  better: Props["better"];
}

/** How much more or less than in the period before. */
function Change({ now, before, better }: ChangeProps) {
  const more = now === null || !before ? 0 : now / before - 1;
  if (Math.abs(more) < 0.005) return null;
  const tone = better && (more > 0 === (better === "more") ? "good" : "bad");
  return (
    <span class={tone ?? "faint"} title="Against the period before, which is as long">
      <Icon name={more > 0 ? "arrow-up" : "arrow-down"} />
      <span class="hidden">{more > 0 ? "more by" : "less by"}</span>
      {Math.abs(more * 100).toFixed(0)} %
    </span>
  );
}

const turnsOf: Of = ({ turns }) => turns;

const sumOf: Of = ({ input_tokens, output_tokens }) =>
  input_tokens === null && output_tokens === null
    ? null
    : (input_tokens ?? 0) + (output_tokens ?? 0);

function share(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole;
}

function written(value: number | null, write: (value: number) => string): string {
  return value === null ? "unknown" : write(value);
}
