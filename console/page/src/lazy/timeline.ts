// When everything ran: a line each, on one axis a turn. Where nothing ran for a while the axis is
// folded, and a line says so.
import type { Row, Session } from "../replay/rows";

/** Seconds in which nothing ran, from which on they are folded. */
const IDLE = 2;
/** What a folded stretch takes of the time in which something ran. */
const FOLDED = 0.05;

export interface Bar {
  readonly kind: "bar";
  readonly row: Exclude<Row, { kind: "end" }>;
  readonly level: number;
  /** Shares of the axis. */
  readonly from: number;
  readonly to: number;
  /** Seconds into the turn. */
  readonly began: number;
  readonly took: number;
  /** How many calls and tools of the same turn ran at the same time. */
  readonly beside: number;
  readonly running: boolean;
  readonly axis: Axis;
}

export interface Gap {
  readonly kind: "gap";
  readonly id: string;
  readonly level: number;
  readonly seconds: number;
  readonly axis: Axis;
}

export type Line = Bar | Gap;

/** The places of an axis that are folded, as shares of it. */
export interface Axis {
  readonly folds: readonly { readonly from: number; readonly to: number }[];
}

interface Stretch {
  readonly begin: number;
  readonly end: number;
}

interface Span extends Stretch {
  readonly row: Bar["row"];
  readonly running: boolean;
}

/** The lines of these rows, in their order; `now` is for what still runs, in milliseconds. */
export function timeline(session: Session, rows: readonly Row[], now: number): Line[] {
  const groups = new Map<string, Span[]>();
  for (const row of session.rows) {
    const span = spanOf(row, now);
    if (!span) continue;
    const root = row.inside[0] ?? (row.kind === "turn" ? row.id : "");
    const group = groups.get(root);
    if (group) group.push(span);
    else groups.set(root, [span]);
  }
  const wanted = new Set(rows.map((row) => row.id));
  return [...groups.values()].flatMap((spans) => linesOf(spans, wanted));
}

function spanOf(row: Row, now: number): Span | null {
  if (row.kind === "end") return null;
  const ran = row.kind === "turn" ? row.turn : row.kind === "call" ? row.call : row.request.ran;
  if (!ran) return null;
  const begin = Date.parse(ran.start_time) / 1000;
  const running = "status" in ran && ran.status === "running";
  const end = running ? Math.max(begin, now / 1000) : begin + ran.duration;
  return { row, begin, end, running };
}

function linesOf(spans: readonly Span[], wanted: ReadonlySet<string>): Line[] {
  const begin = Math.min(...spans.map((span) => span.begin));
  const end = Math.max(...spans.map((span) => span.end));
  const idle = idleIn(spans, begin, end);
  const still = idle.reduce((sum, one) => sum + one.end - one.begin, 0);
  const fold = Math.max((end - begin - still) * FOLDED, 0.001);
  const whole = Math.max(end - begin - still + fold * idle.length, 0.000_001);
  /** Where a moment is on the axis. */
  const place = (moment: number): number => {
    let at = moment - begin;
    for (const one of idle) {
      if (moment >= one.end) at -= one.end - one.begin - fold;
      else if (moment > one.begin) at -= (moment - one.begin) * (1 - fold / (one.end - one.begin));
    }
    return Math.min(1, Math.max(0, at / whole));
  };
  const axis: Axis = {
    folds: idle.map((one) => ({ from: place(one.begin), to: place(one.end) })),
  };
  const beside = besideOthers(spans);
  const left = [...idle];
  const lines: Line[] = [];
  const gapsBefore = (moment: number) => {
    while (left[0] && left[0].end <= moment) {
      const gap = left.shift() as Stretch;
      const id = `gap ${spans[0]?.row.id} ${gap.begin}`;
      lines.push({ kind: "gap", id, level: 2, seconds: gap.end - gap.begin, axis });
    }
  };
  for (const span of spans) {
    if (span.row.kind !== "turn" || span.row.depth > 0) gapsBefore(span.begin);
    if (!wanted.has(span.row.id)) continue;
    lines.push({
      kind: "bar",
      row: span.row,
      level: span.row.depth + 1,
      from: place(span.begin),
      to: place(span.end),
      began: span.begin - begin,
      took: span.end - span.begin,
      beside: beside.get(span) ?? 0,
      running: span.running,
      axis,
    });
  }
  gapsBefore(Number.POSITIVE_INFINITY);
  return lines;
}

/** The stretches in which no call and no tool ran, and that are long enough to be folded. */
function idleIn(spans: readonly Span[], begin: number, end: number): Stretch[] {
  const inside = new Set(spans.flatMap((span) => span.row.inside));
  const active = spans
    .filter((span) => span.row.kind !== "turn" || !inside.has(span.row.id))
    .sort((one, other) => one.begin - other.begin);
  // What a running turn does after its last row is not known.
  const last = spans.some((span) => span.running) ? Math.max(...active.map((s) => s.end)) : end;
  const stretches: Stretch[] = [];
  let until = begin;
  for (const span of [...active, { begin: last, end: last }]) {
    if (span.begin - until > IDLE) stretches.push({ begin: until, end: span.begin });
    until = Math.max(until, span.end);
  }
  return stretches;
}

/** Of each call and tool, with how many of its own turn it shared time. */
function besideOthers(spans: readonly Span[]): Map<Span, number> {
  const numbers = new Map<Span, number>();
  const order = spans
    .filter((span) => span.row.kind !== "turn")
    .sort((one, other) => one.begin - other.begin);
  for (const [at, span] of order.entries()) {
    for (let next = at + 1; next < order.length; next += 1) {
      const other = order[next];
      if (!other || other.begin >= span.end) break;
      if (other.row.inside.at(-1) !== span.row.inside.at(-1)) continue;
      numbers.set(span, (numbers.get(span) ?? 0) + 1);
      numbers.set(other, (numbers.get(other) ?? 0) + 1);
    }
  }
  return numbers;
}
