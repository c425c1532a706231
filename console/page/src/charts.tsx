// Plots, in a file of their own that is loaded when the first one is shown.
import uPlot from "uplot";

export interface Series {
  readonly label: string;
  /** A custom property: `--bad`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly bars?: boolean;
}

export interface Plotted {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  /** How long a stretch is. */
  readonly width: number;
  readonly series: readonly Series[];
  /** Each on top of the one before. */
  readonly stacked?: boolean;
  readonly written: (value: number) => string;
  readonly chosen: (since: number, until: number) => void;
}

const HEIGHT = 140;
const DAY = 86_400;
const FONT = "11px system-ui, sans-serif";

/** Draw into an element; what is returned takes it away again. */
export function draw(element: HTMLElement, plotted: Plotted, sync: string): () => void {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => resolved(style.getPropertyValue(name));
  const axis = { stroke: color("--faint"), font: FONT, ticks: { show: false } };
  const drawn = plotted.stacked ? stacked(plotted.series) : plotted.series;
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: sync }, y: false, points: { size: 5 } },
    scales: {
      x: { time: true, range: () => around(plotted) },
      y: { range: (_, least, most) => [Math.min(0, least ?? 0), most || 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 72,
        values: (_, ticks, __, ___, step) => clock(ticks, step),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: color("--line"), width: 1 },
        values: (_, ticks) => ticks.map((tick) => plotted.written(tick)),
      },
    ],
    series: [{}, ...drawn.map((one) => line(one, color(one.color)))],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const { left, width } = plot.select;
          plotted.chosen(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
        },
      ],
    },
  };
  const data = [plotted.times, ...drawn.map((one) => one.values)];
  const plot = new uPlot(options, data as uPlot.AlignedData, element);
  const observer = new ResizeObserver(() => {
    if (element.clientWidth) plot.setSize({ width: element.clientWidth, height: HEIGHT });
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    plot.destroy();
  };
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

/** The time at each tick, as exact as the ticks are apart, with the day under it where it is new. */
function clock(ticks: readonly number[], step: number): string[] {
  let known = "";
  return ticks.map((tick) => {
    const [day = "", time = ""] = localTime(tick);
    if (step >= DAY) return day;
    const shown = time.slice(0, step >= 60 ? 5 : step >= 1 ? 8 : 10);
    const isNew = day !== known;
    known = day;
    return isNew ? `${shown}\n${day}` : shown;
  });
}

/** `2026-11-23` and `04:57:50.000`, in this browser's time zone. */
function localTime(seconds: number): string[] {
  const offset = new Date(seconds * 1000).getTimezoneOffset() * 60;
  return new Date((seconds - offset) * 1000).toISOString().replace("Z", "").split("T");
}

function around({ times, width }: Plotted): [number, number] {
  return [times[0] ?? 0, (times.at(-1) ?? 0) + width];
}

function line({ label, bars }: Series, stroke: string): uPlot.Series {
  const paths = bars ? uPlot.paths.bars?.({ size: [0.8, 40], align: 1 }) : undefined;
  return {
    label,
    stroke,
    width: bars ? 0 : 1.5,
    spanGaps: true,
    points: { show: !bars, size: 4 },
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
