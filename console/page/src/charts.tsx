// Plots, in a file of their own that is loaded when the first one is shown.
import uPlot from "uplot";

export interface Series {
  readonly label: string;
  /** A custom property: `--bad`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly dashed?: boolean;
}

export interface Plotted {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  /** How long a stretch is. */
  readonly width: number;
  readonly series: readonly Series[];
  readonly bars: boolean;
  readonly written: (value: number) => string;
  /** What ticks may be apart, where that is no power of ten. */
  readonly steps?: readonly number[] | undefined;
  readonly chosen: (since: number, until: number) => void;
  /** A click on a stretch, and on the bar of a series in it. */
  readonly opened?: ((at: number, series: number | null) => void) | undefined;
}

const HEIGHT = 190;
const DAY = 86_400;
const FONT = "12px system-ui, sans-serif";
/** At least so many stretches are as wide as the plot: one bar alone is no wall. */
const LEAST = 5;
/** From this quotient on the scale is logarithmic: else the small values were one line. */
const WIDE = 25;

/** Draw into an element; what is returned takes it away again. */
export function draw(element: HTMLElement, plotted: Plotted, sync: string): () => void {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => resolved(style.getPropertyValue(name));
  const axis = { stroke: color("--faint"), font: FONT, ticks: { show: false } };
  const { bars, times, series } = plotted;
  const drawn = bars ? stacked(series) : series;
  const logarithmic = !bars && isWide(series);
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [12, 28, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: sync }, y: false, points: { show: !bars, size: 6 } },
    scales: {
      x: { time: true, range: () => around(plotted) },
      y: logarithmic
        ? { distr: 3 }
        : { range: (_, least, most) => [Math.min(0, least ?? 0), (most || 1) * 1.05] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: plotted.width >= DAY ? 30 : 46,
        space: 64,
        values: (_, ticks, __, ___, step) => clock(ticks, step),
      },
      {
        ...axis,
        ...(plotted.steps && { incrs: [...plotted.steps] }),
        size: (_, values) => 16 + 7 * Math.max(...(values ?? [""]).map((one) => one?.length ?? 0)),
        grid: {
          stroke: color("--line"),
          width: 1,
          ...(logarithmic ? { filter: (_, ticks) => ticks.map(powerOfTen) } : {}),
        },
        values: (_, ticks) =>
          ticks.map((tick) => (typeof tick === "number" ? round(plotted.written(tick)) : "")),
      },
    ],
    series: [{}, ...drawn.map((one) => line(one, color(one.color), bars))],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const { left, width } = plot.select;
          plotted.chosen(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        },
      ],
      setCursor: [(plot) => tell(tip, plot, plotted)],
    },
  };
  const data = [times, ...drawn.map((one) => one.values)];
  const plot = new uPlot(options, data as uPlot.AlignedData, element);
  plot.over.append(tip);
  const click = (event: MouseEvent) => {
    const at = stretchAt(plot, plotted);
    if (at === null || plot.select.width >= 4) return;
    const box = plot.over.getBoundingClientRect();
    const height = plot.posToVal(event.clientY - box.top, "y");
    plotted.opened?.(at, bars ? barAt(series, at, height) : null);
  };
  if (plotted.opened) plot.over.addEventListener("click", click);
  plot.over.classList.toggle("opens", Boolean(plotted.opened));
  const observer = new ResizeObserver(() => {
    if (element.clientWidth) plot.setSize({ width: element.clientWidth, height: HEIGHT });
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

/** Whether the small values of lines would be one with the axis. */
function isWide(series: readonly Series[]): boolean {
  const values = series.flatMap((one) => one.values.filter((value) => value !== null));
  const least = Math.min(...values);
  return least > 0 && Math.max(...values) / least > WIDE;
}

function powerOfTen(tick: number): number | null {
  return Number.isInteger(Math.log10(tick)) ? tick : null;
}

/** Without zeros at its end: `$0.06`, `10 s`. */
function round(written: string): string {
  return written
    .replace(/( 00? [hms])+$/, "")
    .replace(/(\.\d*?)0+(?=\D*$)/, "$1")
    .replace(/\.(?=\D*$)/, "");
}

/** The series whose bar is at a height; `null` above all. */
function barAt(series: readonly Series[], at: number, height: number): number | null {
  let top = 0;
  const found = series.findIndex((one) => {
    top += one.values[at] ?? 0;
    return height <= top;
  });
  return found < 0 ? null : found;
}

/** The stretch under the cursor. */
function stretchAt(plot: uPlot, { times, width, bars }: Plotted): number | null {
  const { idx, left } = plot.cursor;
  if (typeof idx !== "number" || left === undefined || left < 0) return null;
  if (!bars) return idx;
  const moment = plot.posToVal(left, "x");
  const at = times.findLastIndex((time) => time <= moment);
  return at >= 0 && moment < (times[at] ?? 0) + width ? at : null;
}

/** What stands at the cursor, beside it. */
function tell(tip: HTMLElement, plot: uPlot, plotted: Plotted): void {
  const { series, times, width, written } = plotted;
  const at = plot.cursor.event ? stretchAt(plot, plotted) : null;
  const known = at === null ? [] : series.filter((one) => one.values[at]);
  tip.hidden = at === null || !known.length;
  if (at === null || tip.hidden) return;
  const head = document.createElement("b");
  head.textContent = localTime(times[at] ?? 0, width);
  const rows = known.map((one) => {
    const row = document.createElement("div");
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = `var(${one.color})`;
    row.append(swatch, ` ${one.label}: ${written(one.values[at] ?? 0)}`);
    return row;
  });
  tip.replaceChildren(head, ...rows);
  const left = plot.cursor.left ?? 0;
  const hasRoom = plot.over.clientWidth - left > tip.offsetWidth + 16;
  tip.style.left = `${hasRoom ? left + 12 : Math.max(0, left - tip.offsetWidth - 12)}px`;
}

/** Each with what is under it, the highest first: the others are drawn over it. */
function stacked(series: readonly Series[]): Series[] {
  const under = new Map<number, number>();
  return series
    .map((one) => ({
      ...one,
      values: one.values.map((value, at) => {
        const top = (under.get(at) ?? 0) + (value ?? 0);
        under.set(at, top);
        return value === null ? null : top;
      }),
    }))
    .reverse();
}

const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric" });
const DATE = new Intl.DateTimeFormat("en-GB", { month: "short", day: "numeric" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const EXACT = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** The time at each tick, as exact as the ticks are apart, with the day under it where it is new. */
function clock(ticks: readonly number[], step: number): string[] {
  let known = "";
  return ticks.map((tick) => {
    const time = new Date(tick * 1000);
    if (step > 7 * DAY) return (step >= 28 * DAY ? MONTH : DATE).format(time);
    const day = WEEKDAY.format(time);
    if (step >= DAY) return day;
    const shown = (step >= 60 ? CLOCK : EXACT).format(time);
    const isNew = day !== known;
    known = day;
    return isNew ? `${shown}\n${day}` : shown;
  });
}

/** A stretch, in this browser's time zone: a day that begins at midnight without its time. */
function localTime(seconds: number, width: number): string {
  const time = new Date(seconds * 1000);
  const day = `${WEEKDAY.format(time)} ${time.toLocaleString("en-GB", { month: "short" })}`;
  const isDay = width >= DAY && time.getHours() + time.getMinutes() === 0;
  return isDay ? day : `${day} ${(width >= 60 ? CLOCK : EXACT).format(time)}`;
}

function around({ times, width, bars }: Plotted): [number, number] {
  const last = times.at(-1) ?? 0;
  const first = Math.min(times[0] ?? 0, last - (LEAST - 1) * width);
  return bars ? [first, last + width] : [first, last + width / 2];
}

function line({ label, dashed }: Series, stroke: string, bars: boolean): uPlot.Series {
  const paths = bars ? uPlot.paths.bars?.({ size: [0.86, 64], align: 1 }) : undefined;
  return {
    label,
    stroke,
    width: bars ? 0 : 2,
    spanGaps: true,
    points: { show: !bars, size: 6 },
    ...(dashed ? { dash: [6, 5] } : {}),
    ...(bars ? { fill: stroke } : {}),
    ...(paths ? { paths } : {}),
  };
}

/** A colour as a canvas takes it, which knows no light-dark(). */
function resolved(value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
