// When the turns began: bars over time. A bar, or a stretch of them, is a window of time.
import { useState } from "preact/hooks";
import { useKeys } from "../keys";
import type { HistogramBin, WantedQuery } from "../types";
import { setParams } from "../url";
import { useAsk } from "../use_ask";
import { KeyButton } from "./key_button";
import { count, counted, dollars, seconds, When } from "./numbers";
import { SqlLink } from "./panel";
import { type Column, Table } from "./table";

const HEIGHT = 40;

export function Histogram({ query }: { query: WantedQuery }) {
  const { answer, stale } = useAsk("GET /api/histogram", query);
  const [table, setTable] = useState(false);
  useKeys({ table: () => setTable((now) => !now) });
  if (!answer?.turns) return <div class="histogram" />;
  const { bins, width_seconds: width } = answer;
  return (
    <div class={`histogram ${stale ? "stale" : ""}`}>
      <p>
        {counted(answer.turns, "turn")}
        {answer.cost_usd !== null && ` · ${dollars(answer.cost_usd)}`} · one bar is {whole(width)},
        the highest {counted(Math.max(...bins.map((bin) => bin.turns)), "turn")}{" "}
        <KeyButton action="table" act={() => setTable(!table)} bare>
          {table ? "Bars" : "Table"}
        </KeyButton>{" "}
        <SqlLink title="turns over time" sql={answer.sql} />
      </p>
      {table ? (
        <Table
          columns={COLUMNS}
          rows={bins.filter((bin) => bin.turns)}
          keyOf={({ time }) => time}
        />
      ) : (
        <>
          <Bars bins={bins} width={width} />
          <Axis bins={bins} width={width} />
        </>
      )}
    </div>
  );
}

/** Without the parts that are 0. */
const whole = (width: number) => seconds(width).replace(/( 00? [hms])+$/, "");

function Bars({ bins, width }: { bins: readonly HistogramBin[]; width: number }) {
  const [brush, setBrush] = useState<readonly [number, number] | null>(null);
  const most = Math.max(...bins.map((bin) => bin.turns));
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * bins.length);
    return Math.max(0, Math.min(bins.length - 1, place));
  };
  const choose = () => {
    if (!brush) return;
    const [first, last] = [bins[Math.min(...brush)], bins[Math.max(...brush)]];
    setBrush(null);
    if (!first || !last) return;
    const end = new Date(new Date(last.time).getTime() + width * 1000);
    setParams({ since: short(new Date(first.time)), until: short(end), at: "" });
  };
  return (
    <svg
      viewBox={`0 0 ${bins.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Turns over time: ${bins.length} bars, at most ${most} turns. T shows a table.`}
      onPointerDown={(event) => {
        const place = at(event);
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        setBrush([place, place]);
      }}
      onPointerMove={(event) => brush && setBrush([brush[0], at(event)])}
      onPointerUp={choose}
    >
      {bins.map((bin, index) => (
        <Bar key={bin.time} bin={bin} index={index} most={most} />
      ))}
      {brush && (
        <rect
          class="brush"
          x={Math.min(...brush)}
          width={Math.abs(brush[1] - brush[0]) + 1}
          height={HEIGHT}
        />
      )}
    </svg>
  );
}

/** When the first bar begins, that in the middle, and when the last one ends. */
function Axis({ bins, width }: { bins: readonly HistogramBin[]; width: number }) {
  const [first, middle, last] = [bins[0], bins[Math.floor(bins.length / 2)], bins.at(-1)];
  if (!first || !middle || !last) return null;
  const end = new Date(new Date(last.time).getTime() + width * 1000).toISOString();
  return (
    <p class="axis">
      <When time={first.time} />
      {bins.length > 2 && <When time={middle.time} />}
      <When time={end} />
    </p>
  );
}

function Bar({ bin, index, most }: { bin: HistogramBin; index: number; most: number }) {
  const height = (of: number) => (of ? Math.max(1.5, (of / most) * HEIGHT) : 0);
  const all = height(bin.turns);
  const problems = height(bin.problems);
  return (
    <g>
      <title>{`${bin.time.replace("T", " ").replace("Z", "")} UTC: ${count(bin.turns)} turns, ${count(bin.problems)} with problems`}</title>
      <rect class="ground" x={index} width={1} height={HEIGHT} />
      <rect class="all" x={index + 0.08} width={0.84} y={HEIGHT - all} height={all} />
      <rect
        class="problems"
        x={index + 0.08}
        width={0.84}
        y={HEIGHT - problems}
        height={problems}
      />
    </g>
  );
}

function short(time: Date): string {
  return time
    .toISOString()
    .replace(/\.000Z$/, "")
    .replace(/Z$/, "");
}

const COLUMNS: readonly Column<HistogramBin>[] = [
  { head: "from", show: ({ time }) => <When time={time} /> },
  { head: "turns", look: "count", show: ({ turns }) => count(turns) },
  { head: "problems", look: "count", show: ({ problems }) => count(problems) },
];
