// The rows of a statement as plots or bars; the table beside it is what it says in numbers.
import { COLORS } from "../parts/colors";
import { asNumber } from "../parts/diagnosed";
import { ListBox } from "../parts/list_box";
import { UNKNOWN } from "../parts/numbers";
import { Plot } from "../parts/plot";
import { Segments } from "../parts/segments";
import { label, plain } from "../parts/text";
import { param, setParams } from "../url";
import type { Bars, ChartChoice, ChartChoices, LinePlot, Lines } from "./chart";

const KINDS = { lines: "Lines", stacked: "Stacked bars", bars: "Bars" } as const;

/** What the reader chose, which stands in the address. */
export function chartChoice(): ChartChoice {
  return {
    kind: param("kind"),
    across: param("across"),
    value: param("value"),
    split: param("split"),
  };
}

/** The kind of the chart and its columns, to be chosen. */
export function ChartPicker({ choices, shown }: { choices: ChartChoices; shown: string }) {
  return (
    <div class="actions">
      {choices.kinds.length > 1 && (
        <Segments
          label="Kind of chart"
          choices={choices.kinds.map((kind) => [kind, KINDS[kind]] as const)}
          value={shown}
          choose={(kind) => setParams({ kind })}
        />
      )}
      <ColumnBox label="Across" name="across" columns={choices.across} other="by type" />
      <ColumnBox label="Value" name="value" columns={choices.values} other="all numbers" />
      {choices.splits.length > 1 && (
        <ColumnBox label="Split by" name="split" columns={choices.splits} other="the first text" />
      )}
    </div>
  );
}

interface ColumnBoxProps {
  label: string;
  name: "across" | "value" | "split";
  columns: readonly string[];
  /** What is shown where none is chosen. */
  other: string;
}

function ColumnBox({ label, name, columns, other }: ColumnBoxProps) {
  const known = [...new Set(columns)].map((value) => ({ value, words: plain(value) }));
  return (
    <ListBox
      label={label}
      value={param(name)}
      options={[{ value: "", words: other }, ...known]}
      choose={(value) => setParams({ [name]: value })}
    >
      <span class="faint">{label}</span>
    </ListBox>
  );
}

export function Chart({ chart }: { chart: Lines | Bars }) {
  return (
    <>
      {chart.kind !== "bars"
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
          label: label(name),
          color: `--c${(at % COLORS) + 1}`,
          values,
        }))}
        bars={lines.kind === "stacked"}
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
                  {label(one)}
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
