// What a chart makes of rows, by their types: over time lines, of texts bars, unless the reader
// chose the kind and the columns.
import { COLORS } from "../parts/colors";
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
  readonly kind: "lines" | "stacked";
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

export type Kind = Lines["kind"] | Bars["kind"];

/** What the reader chose, columns by their names; what is empty or does not fit is chosen by type. */
export interface ChartChoice {
  readonly kind: string;
  readonly across: string;
  readonly value: string;
  readonly split: string;
}

/** What can be chosen of an answer: names of columns. */
export interface ChartChoices {
  readonly kinds: readonly Kind[];
  readonly across: readonly string[];
  readonly values: readonly string[];
  readonly splits: readonly string[];
}

const MOST_PLOTS = 4;
const MOST_LINES = COLORS;
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
export function chartOf(answer: SqlAnswer, choice: ChartChoice): Lines | Bars | null {
  const { columns, rows } = answer;
  const { all, numbers, texts, time } = placesOf(answer);
  const named = (places: readonly number[], wanted: string) =>
    wanted ? places.find((at) => columns[at] === wanted) : undefined;
  const chosen = named(all, choice.across);
  const across = chosen ?? time ?? texts[0];
  const value = named(numbers, choice.value);
  const shown = value === undefined ? numbers.filter((at) => at !== across) : [value];
  if (across === undefined || !shown.length || !rows.length) return null;
  const name = (at: number) => columns[at] ?? "";
  if (isTime(answer.types[across] ?? "") && choice.kind !== "bars") {
    const drawn = lines(rows, across, named(texts, choice.split) ?? texts[0], shown, name);
    return drawn && choice.kind === "stacked" ? { ...drawn, kind: "stacked" } : drawn;
  }
  return bars(rows, chosen === undefined && texts.length ? texts : [across], shown, name);
}

export function choicesOf(answer: SqlAnswer, choice: ChartChoice): ChartChoices {
  const { all, numbers, texts, time } = placesOf(answer);
  const name = (at: number) => answer.columns[at] ?? "";
  const across = all.find((at) => name(at) === choice.across) ?? time;
  const over = across !== undefined && isTime(answer.types[across] ?? "");
  return {
    kinds: over ? ["lines", "stacked", "bars"] : ["bars"],
    across: all.map(name),
    values: numbers.map(name),
    splits: over ? texts.map(name) : [],
  };
}

function placesOf({ types }: SqlAnswer) {
  const all = types.map((_, at) => at);
  return {
    all,
    numbers: all.filter((at) => isNumeric(types[at] ?? "")),
    texts: all.filter((at) => isText(types[at] ?? "")),
    time: all.find((at) => isTime(types[at] ?? "")),
  };
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
      const value = numberOf(row[column]);
      if (!line || place === undefined || value === null) continue;
      line[place] = (line[place] ?? 0) + value;
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
  const several = new Set(timed.map((one) => `${one.at} ${one.text}`)).size < timed.length;
  const added = several ? "Rows of one time and name are added up." : "";
  const words = [leftWords(left), added].filter(Boolean).join(". ");
  return { kind: "lines", times, width: narrowest(times), plots, left: words };
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
