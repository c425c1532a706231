// What a chart makes of rows, by their types: over time lines, of texts bars.
import type { SqlAnswer } from "../types";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** A plot of one column, in which each text is a line where there is one. */
export interface LinePlot {
  readonly column: string;
  readonly lines: readonly Line[];
}

export interface Lines {
  readonly kind: "lines";
  /** ISO, ascending. */
  readonly times: readonly string[];
  /** Seconds between two of them, at the least. */
  readonly width: number;
  readonly plots: readonly LinePlot[];
  /** What is in the table only. */
  readonly left: string;
}

export interface Bars {
  readonly kind: "bars";
  readonly names: readonly string[];
  readonly columns: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly left: string;
}

const MOST_PLOTS = 4;
const MOST_LINES = 6;
const MOST_BARS = 50;

const WRAPPED = /^(?:Nullable|LowCardinality)\((.*)\)$/;

function bare(type: string): string {
  const inner = WRAPPED.exec(type)?.[1];
  return inner === undefined ? type : bare(inner);
}

export function isNumeric(type: string): boolean {
  return /^(U?Int|B?Float|Decimal)/.test(bare(type));
}

const isTime = (type: string) => /^Date/.test(bare(type));
const isText = (type: string) => /^(String|FixedString|Enum|UUID|Bool|IPv)/.test(bare(type));

/** `null` where the types make no chart, or there are no rows. */
export function chartOf({ types, columns, rows }: SqlAnswer): Lines | Bars | null {
  const places = types.map((_, at) => at);
  const numbers = places.filter((at) => isNumeric(types[at] ?? ""));
  const texts = places.filter((at) => isText(types[at] ?? ""));
  const time = places.find((at) => isTime(types[at] ?? ""));
  if (!numbers.length || !rows.length) return null;
  const name = (at: number) => columns[at] ?? "";
  if (time !== undefined) return lines(rows, time, texts[0], numbers, name);
  return texts.length ? bars(rows, texts, numbers, name) : null;
}

type Rows = SqlAnswer["rows"];
type NameOf = (at: number) => string;

function lines(
  rows: Rows,
  time: number,
  text: number | undefined,
  numbers: readonly number[],
  name: NameOf,
): Lines | null {
  const timed = rows.flatMap((row) => {
    const at = iso(row[time]);
    return at ? [{ at, row, text: text === undefined ? "" : String(row[text]) }] : [];
  });
  const times = [...new Set(timed.map(({ at }) => at))].sort();
  if (!times.length) return null;
  const places = new Map(times.map((at, place) => [at, place]));
  const texts = largest(
    timed.map((one) => one.text),
    timed.map((one) => numberOf(one.row[numbers[0] ?? 0]) ?? 0),
  );
  const plots = numbers.slice(0, MOST_PLOTS).map((column): LinePlot => {
    const values = new Map(
      texts
        .slice(0, MOST_LINES)
        .map((one) => [one, new Array<number | null>(times.length).fill(null)]),
    );
    for (const { at, row, text } of timed) {
      const place = places.get(at);
      const line = values.get(text);
      if (line && place !== undefined) line[place] = numberOf(row[column]);
    }
    const series = [...values].map(
      ([one, line]): Line => ({ name: one || name(column), values: line }),
    );
    return { column: name(column), lines: series };
  });
  const left = [
    leftOut(texts.length - MOST_LINES, `of ${text === undefined ? "" : name(text)}`),
    leftOut(numbers.length - MOST_PLOTS, "columns"),
  ];
  return { kind: "lines", times, width: narrowest(times), plots, left: leftWords(left) };
}

function bars(
  rows: Rows,
  texts: readonly number[],
  numbers: readonly number[],
  name: NameOf,
): Bars {
  const shown = rows.slice(0, MOST_BARS);
  const columns = numbers.slice(0, MOST_PLOTS).map((column) => ({
    name: name(column),
    values: shown.map((row) => numberOf(row[column]) ?? 0),
  }));
  const names = shown.map((row) => texts.map((at) => String(row[at] ?? "–")).join(" · "));
  const left = [
    leftOut(rows.length - MOST_BARS, "rows"),
    leftOut(numbers.length - MOST_PLOTS, "columns"),
  ];
  return { kind: "bars", names, columns, left: leftWords(left) };
}

/** The engine's time, which is UTC, as ISO; "" for what is none. */
function iso(value: unknown): string {
  if (typeof value !== "string") return "";
  const [day = "", clock = "00:00:00"] = value.split(/[ T]/);
  const text = `${day}T${clock.replace(/(\.\d{3})\d+/, "$1")}Z`;
  return Number.isNaN(Date.parse(text)) ? "" : text;
}

function numberOf(value: unknown): number | null {
  const number = value === null ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Each once, the one with the largest numbers first. */
function largest(texts: readonly string[], numbers: readonly number[]): string[] {
  const sums = new Map<string, number>();
  texts.forEach((text, at) => {
    sums.set(text, (sums.get(text) ?? 0) + Math.abs(numbers[at] ?? 0));
  });
  return [...sums].sort(([, a], [, b]) => b - a).map(([text]) => text);
}

function narrowest(times: readonly string[]): number {
  const seconds = times.map((time) => Date.parse(time) / 1000);
  const steps = seconds.slice(1).map((at, before) => at - (seconds[before] ?? at));
  return steps.length ? Math.min(...steps) : 60;
}

function leftOut(count: number, what: string): string {
  return count > 0 ? `${count} more ${what}` : "";
}

function leftWords(left: readonly string[]): string {
  const parts = left.filter(Boolean);
  return parts.length ? `${parts.join(" and ")}: in the table` : "";
}
