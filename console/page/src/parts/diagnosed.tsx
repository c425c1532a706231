// A diagnostic as a panel: its question, its rows, and what to do about them.
import type { ComponentChildren } from "preact";
import type { DiagnosticAnswer } from "../types";
import { param, to, windowQuery, withParams } from "../url";
import { useAsk } from "../use_ask";
import { End } from "./end";
import { Icon } from "./icon";
import { bytes, count, dollars, percent, seconds, UNKNOWN, When } from "./numbers";
import { Panel } from "./panel";
import { Answered, Scrolled } from "./states";
import { type Column, Table } from "./table";
import { Line, label, plain } from "./text";

interface Props {
  name: string;
  title: string;
  columns: readonly string[];
  limit?: number;
  /** In the place of the title. */
  head?: ComponentChildren;
}

export function Diagnosed({ name, title, columns, limit = 6, head }: Props) {
  const asked = useAsk("GET /api/diagnostic", {
    name,
    ...windowQuery(),
    limit,
  });
  const { answer } = asked;
  return (
    <Panel
      title={title}
      head={head}
      {...(answer ? { question: answer.question, sql: answer.sql } : {})}
    >
      <Answered asked={asked} rows={4}>
        {(answer) =>
          answer.rows.length ? (
            <Rows answer={answer} columns={columns} />
          ) : (
            <p class="faint">
              <Icon name="check" /> None in this time.
            </p>
          )
        }
      </Answered>
    </Panel>
  );
}

interface RowsProps {
  answer: DiagnosticAnswer;
  columns: readonly string[];
}

export function Rows({ answer, columns }: RowsProps) {
  const places = columns.map((name) => answer.columns.indexOf(name)).filter((at) => at >= 0);
  return (
    <Scrolled label={`${answer.title}: rows`} look="behind">
      <Table
        columns={places.map((at) => ({
          ...columnOf(answer.columns, at, isNumber(answer.rows[0]?.[at])),
          head: heading(answer.columns[at] ?? ""),
          look: isNumber(answer.rows[0]?.[at]) ? "count" : "text",
        }))}
        rows={answer.rows}
        keyOf={(_, index) => String(index)}
      />
    </Scrolled>
  );
}

/** One column of a question's answer, whose name says what its values are. */
export function columnOf(
  columns: readonly string[],
  at: number,
  isNumber: boolean,
): Column<readonly unknown[]> {
  const head = columns[at] ?? "";
  const look = isNumber ? "number" : "text";
  return {
    head: plain(head) || UNKNOWN,
    look,
    show: (row) => written(row[at], head, row, columns),
  };
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || value === null;
}

export function heading(column: string): string {
  return column.replace(/_(usd|seconds)$/, "").replaceAll("_", " ");
}

/** A value by what its column's name says it is. */
export function written(
  value: unknown,
  column: string,
  row: readonly unknown[],
  columns: readonly string[],
): ComponentChildren {
  if (value === null || value === undefined) return UNKNOWN;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return asNumber(value, column);
  if (typeof value !== "string") return <Line text={JSON.stringify(value)} />;
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(value);
  if (time && /time$/.test(column)) return <When time={`${value.replace(" ", "T")}Z`} />;
  if (column === "stop_reason" || column === "last_stop") return <End end={value} />;
  const project = String(row[columns.indexOf("project")] ?? param("project"));
  if (/^session(_id)?$/.test(column) && value)
    return <a href={to("s", project, value)}>{label(value)}</a>;
  const id = /^(turn|span|last_span|turn_id|span_id)$/.test(column) && value;
  // A tool that fails leads to what it was fed.
  const fails = column === "tool" && columns.includes("failures") && value;
  if (fails) return <a href={withParams(["errors"], { tool: value })}>{label(value)}</a>;
  if (id) return <a href={to("go", value)}>{value.slice(0, 8)}</a>;
  return <Line text={value} />;
}

/** A number by what its column's name says it is. */
export function asNumber(value: number, column: string): string {
  if (column.endsWith("_usd")) return dollars(value);
  if (/(_share|_rate|^share)$/.test(column)) return percent(value);
  if (column.endsWith("_seconds") || column === "duration") return seconds(value);
  if (/(^|_)bytes$/.test(column)) return bytes(value);
  return Number.isInteger(value)
    ? count(value)
    : value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}
