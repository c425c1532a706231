// The rows of a statement as plots or bars; the table beside it is what it says in numbers.
import { asNumber } from "../parts/diagnosed";
import { UNKNOWN } from "../parts/numbers";
import { Plot } from "../parts/plot";
import { plain } from "../parts/text";
import type { Bars, LinePlot, Lines } from "./chart";

const COLORS = ["--link", "--warn", "--good", "--tool", "--busy", "--bad"] as const;

export function Chart({ chart }: { chart: Lines | Bars }) {
  return (
    <>
      {chart.kind === "lines"
        ? chart.plots.map((plot) => <OverTime key={plot.column} lines={chart} plot={plot} />)
        : chart.columns.map(({ name, values }) => (
            <EachBar key={name} name={name} names={chart.names} values={values} />
          ))}
      {chart.left && <p class="faint">{plain(chart.left)}</p>}
    </>
  );
}

function OverTime({ lines, plot }: { lines: Lines; plot: LinePlot }) {
  return (
    <section class="charted">
      <h2>{plain(plot.column)}</h2>
      <Plot
        label={`${plain(plot.column)} over time`}
        times={lines.times}
        width={lines.width}
        series={plot.lines.map(({ name, values }, at) => ({
          label: plain(name),
          color: COLORS[at % COLORS.length] ?? COLORS[0],
          values,
        }))}
        written={(value) => (value === null ? UNKNOWN : asNumber(value, plot.column))}
      />
    </section>
  );
}

interface BarsProps {
  name: string;
  names: readonly string[];
  values: readonly number[];
}

function EachBar({ name, names, values }: BarsProps) {
  const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return (
    <section class="charted">
      <table class="bars">
        <caption>{plain(name)}</caption>
        <tbody>
          {names.map((one, at) => {
            const value = values[at] ?? 0;
            return (
              <tr key={String(at)}>
                <th scope="row" title={plain(one)}>
                  {plain(one)}
                </th>
                <td class="bar">
                  <span
                    class={`fill ${value < 0 ? "bad" : "measured"}`}
                    style={{ width: `${(Math.abs(value) / most) * 100}%` }}
                  />
                </td>
                <td class="number">{asNumber(value, name)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
