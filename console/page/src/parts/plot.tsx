// A plot over time, with a table of the same behind it. A stretch that is drawn is a window.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type * as Charts from "../charts";
import { theme } from "../frame/theme";
import { go, setParams } from "../url";
import { useFile } from "../use_file";
import { When } from "./numbers";
import { Scrolled } from "./states";
import { type Column, Table } from "./table";

/** Tables instead of plots, on the whole screen. */
export const tables = signal(false);

interface Props {
  label: string;
  /** When each stretch begins. */
  times: readonly string[];
  /** Seconds of a stretch. */
  width: number;
  series: readonly Charts.Series[];
  /** Bars, each on top of the one before, instead of lines. */
  bars?: boolean;
  written: (value: number | null) => string;
  steps?: readonly number[];
  /** The address of what a stretch is made of, or of its part in a series. */
  target?: (stretch: number, series: number | null) => string;
  /** Where the series are named elsewhere. */
  unnamed?: boolean;
}

export function Plot(props: Props) {
  return (
    <>
      {!props.unnamed && (
        <ul class="legend">
          {props.series.map(({ label, color }) => (
            <li key={label}>
              <Swatch color={color} /> {label}
            </li>
          ))}
        </ul>
      )}
      {tables.value ? <Numbers {...props} /> : <Drawn {...props} />}
    </>
  );
}

/** The colour of a series, beside its name. */
export function Swatch({ color }: { color: string }) {
  return <span class="swatch" aria-hidden="true" style={{ background: `var(${color})` }} />;
}

function Drawn(props: Props) {
  const { label, times, width, series, bars = false, written, steps, target } = props;
  const place = useRef<HTMLDivElement>(null);
  const { file, failed } = useFile<typeof Charts>("/static/charts.js");
  const key = JSON.stringify([times, series]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is what is drawn, as text.
  useEffect(() => {
    if (!file || !place.current) return;
    const plotted = {
      times: times.map(secondsOf),
      width,
      series,
      bars,
      written,
      steps,
      chosen: (since: number, until: number) =>
        setParams({ since: momentOf(since), until: momentOf(until) }),
      opened: target && ((at: number, line: number | null) => go(target(at, line))),
    };
    return file.draw(place.current, plotted, "overview");
  }, [file, key, theme.value]);
  if (failed) return <Numbers {...props} />;
  return (
    <div
      ref={place}
      class="plot"
      role="img"
      aria-label={`${label}: ${times.length} intervals. T shows a table.`}
    />
  );
}

function secondsOf(time: string): number {
  return new Date(time).getTime() / 1000;
}

function momentOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

function Numbers({ label, times, series, written, target }: Props) {
  const columns: readonly Column<number>[] = [
    {
      head: "from",
      show: (at) =>
        target ? (
          <a href={target(at, null)}>
            <When time={times[at] ?? ""} long />
          </a>
        ) : (
          <When time={times[at] ?? ""} long />
        ),
    },
    ...series.map((line) => ({
      head: line.label,
      look: "count",
      show: (at: number) => written(line.values[at] ?? null),
    })),
  ];
  const filled = [...times.keys()].filter((at) => series.some(({ values }) => values[at]));
  return (
    <Scrolled label={label} look="behind">
      <Table label={label} columns={columns} rows={filled.reverse()} keyOf={String} />
    </Scrolled>
  );
}
