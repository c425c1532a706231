// What can be done with the rows of a list: their SQL, and a file of them.
import type { ComponentChildren } from "preact";
import { go } from "../url";
import { download } from "./copy";
import { SqlLink, sqlScreen } from "./panel";
import { plain } from "./text";

export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Rows of fields, as they came. */
export function rowsOf(records: readonly object[]): Rows {
  return { columns: Object.keys(records[0] ?? {}), rows: records.map(Object.values) };
}

interface Props {
  /** What they are, as the file is called: `turns`. */
  name: string;
  sql: string | undefined;
  records: readonly object[];
  tools?: ComponentChildren;
}

export function RowsShown({ name, sql, records, tools }: Props) {
  return (
    <div class="rows-shown">
      {tools}
      {sql && <SqlLink title={name} sql={sql} />}
      {records.length > 0 && <Downloads name={name} table={rowsOf(records)} />}
    </div>
  );
}

/** What `S` does on a list. */
export function openSql(sql: string | undefined): () => unknown {
  return () => (sql ? go(sqlScreen(sql)) : false);
}

export function Downloads({ name = "", table }: { name?: string; table: Rows }) {
  const save = (kind: string, text: string) =>
    download(text, `${["turnspan", name].filter(Boolean).join("-")}.${kind}`, "text/plain");
  const label = (kind: string) => (name ? `${name} shown as ${kind}` : kind);
  return (
    <>
      <button type="button" aria-label={label("CSV")} onClick={() => save("csv", csv(table))}>
        CSV
      </button>{" "}
      <button type="button" aria-label={label("JSON")} onClick={() => save("json", json(table))}>
        JSON
      </button>
    </>
  );
}

/** As `turnspan sql --format csv`: visible, and nothing that a spreadsheet takes for a formula. */
function csv({ columns, rows }: Rows): string {
  const cell = (value: unknown) => {
    if (value === null) return "";
    const text = plain(typeof value === "object" ? JSON.stringify(value) : String(value));
    const harmless = typeof value === "string" && /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function json({ columns, rows }: Rows): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at]])));
  return `${JSON.stringify(objects, null, 2)}\n`;
}
