// A table of records, by its columns.
import type { ComponentChildren, HTMLAttributes } from "preact";
import type { Cursor } from "./list";

export interface Column<R> {
  readonly head: string;
  readonly show: (row: R) => ComponentChildren;
  /** The class of its cells. `labelled` ones repeat their heading on a narrow screen, which has no
   * room to see whose they are, and so does a `count`, which is a `number`. */
  readonly look?: string | undefined;
  /** The tooltip of its heading. */
  readonly title?: string | undefined;
}

interface Props<R> {
  columns: readonly Column<R>[];
  rows: readonly R[];
  keyOf: (row: R, index: number) => string;
  label?: string;
  /** Makes it a grid: one row is chosen, and Tab reaches that one. */
  cursor?: Cursor;
  /** Whether a click chooses a row. */
  clicks?: boolean;
  role?: "treegrid";
  severalChosen?: boolean;
  /** What else stands at a row. */
  attributes?: (row: R) => HTMLAttributes<HTMLTableRowElement>;
}

export function Table<R>(props: Props<R>) {
  const { columns, rows, keyOf, label, cursor, clicks, role, severalChosen, attributes } = props;
  const at = cursor?.at ?? -1;
  const choose = (index: number) => (event: MouseEvent) => {
    if (!(event.target instanceof Element && event.target.closest("a"))) cursor?.move(index - at);
  };
  const ofCursor = (index: number) => ({
    tabIndex: index === Math.max(at, 0) ? 0 : -1,
    "aria-selected": index === at,
    ...(clicks ? { onClick: choose(index) } : {}),
  });
  return (
    <table
      class="list"
      role={role ?? (cursor && "grid")}
      aria-label={label}
      {...(severalChosen && { "aria-multiselectable": true })}
    >
      <thead>
        <tr>
          {columns.map(({ head, look, title }, place) => (
            <th key={place} class={isNumber(look) ? "number" : undefined} title={title}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={cursor?.body ?? null}>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} {...(cursor && ofCursor(index))} {...attributes?.(row)}>
            {columns.map(({ head, look, show }, place) => (
              <td
                key={place}
                class={isNumber(look) ? "number" : look}
                data-label={look === "count" || look === "labelled" ? head : undefined}
              >
                {show(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isNumber(look: string | undefined): boolean {
  return look === "number" || look === "count";
}
