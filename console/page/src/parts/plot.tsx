// A plot over time, with a table of the same behind it. A stretch that is drawn is a window.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type * as Charts from "../charts";
import { theme } from "../frame/theme";
import { setParams } from "../url";
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
  /** Each on top of the one before. */
  stacked?: boolean;
  written: (value: number | null) => string;
}

export function Plot(props: Props) {
  return (
    <>
      <ul class="legend">
        {props.series.map((one) => (
          <li key={one.label}>
            <span class={`swatch ${one.color.slice(2)}`} aria-hidden="true" /> {one.label}
          </li>
        ))}
      </ul>
      {tables.value ? <Numbers {...props} /> : <Drawn {...props} />}
    </>
  );
}

function Drawn(props: Props) {
  const { label, times, width, series, stacked = false, written } = props;
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
      stacked,
      written,
      chosen: choose,
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

function choose(since: number, until: number): void {
  const written = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);
  setParams({ since: written(since), until: written(until) });
}

function Numbers({ label, times, series, written }: Props) {
  const columns: readonly Column<number>[] = [
    { head: "from", show: (at) => <When time={times[at] ?? ""} /> },
    ...series.map((line) => ({
      head: line.label,
      look: "number",
      show: (at: number) => written(line.values[at] ?? null),
    })),
  ];
  return (
    <Scrolled label={label} look="behind">
      <Table label={label} columns={columns} rows={[...times.keys()]} keyOf={String} />
    </Scrolled>
  );
}
