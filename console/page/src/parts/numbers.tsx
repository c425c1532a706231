// Numbers as people read them. One that is not known is a dash, an estimated one has a tilde, and
// 0 is only ever 0.

export const UNKNOWN = "–";

type Known = number | null | undefined;

function known(value: Known): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function count(value: Known): string {
  return known(value) ? value.toLocaleString("en-US") : UNKNOWN;
}

const COMPACT = new Intl.NumberFormat("en-US", {
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** `950`, `22.6K`, `1.2M`: where a figure has little room. */
export function compact(value: Known): string {
  return known(value) ? COMPACT.format(value) : UNKNOWN;
}

/** `1 turn`, `1,200 turns`. */
export function counted(value: Known, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** `1,200 tokens in, 340 out`. */
export function tokensUsed(input: Known, output: Known): string {
  return `${count(input)} tokens in, ${count(output)} out`;
}

/** `640 µs`, `12 ms`, `3.4 s`, `2 m 05 s`, `3 h 07 m`, `2 d 4 h`, as the command line has it. */
export function seconds(value: Known): string {
  if (!known(value)) return UNKNOWN;
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${(value * 1e3).toFixed(0)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  const two = (part: number) => String(Math.floor(part)).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${two((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** Cents of large amounts, three digits that matter of small ones. */
export function dollars(value: Known): string {
  if (!known(value)) return UNKNOWN;
  if (value === 0) return "$0";
  if (Math.abs(value) >= 1) {
    return `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  }
  const places = Math.min(12, 2 - Math.floor(Math.log10(Math.abs(value))));
  return `$${value.toFixed(places)}`;
}

/** With so many digits after the point. */
export function fixed(value: Known, digits: number): string {
  return known(value) ? value.toFixed(digits) : UNKNOWN;
}

export function percent(share: Known): string {
  if (!known(share)) return UNKNOWN;
  return `${(share * 100).toFixed(1)}%`;
}

export function bytes(value: Known): string {
  if (!known(value)) return UNKNOWN;
  let left = value;
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (Math.abs(left) < 1024) {
      return `${unit === "B" || left >= 100 ? left.toFixed(0) : left.toFixed(1)} ${unit}`;
    }
    left /= 1024;
  }
  return `${left.toFixed(1)} TiB`;
}

/** A number that was not counted but estimated. */
export function estimated(text: string, isEstimated = true): string {
  return isEstimated && text !== UNKNOWN ? `~${text}` : text;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** A moment of this machine's clock: of today its time, else with its day, and no time at
 * midnight; a `long` one always has its day. */
export function When({ time, long = false }: { time: string; long?: boolean }) {
  const moment = new Date(time);
  const now = new Date();
  const today = moment.toDateString() === now.toDateString();
  const near = moment.getFullYear() === now.getFullYear();
  const day = today && !long ? "" : `${(near ? SHORT : DAY).format(moment)} `;
  const clock = CLOCK.format(moment);
  return (
    <time dateTime={time} title={`${time.replace("T", " ").replace("Z", "")} UTC`}>
      {day}
      {!(day && clock === "00:00:00") && clock}
    </time>
  );
}
