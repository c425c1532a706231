// A table of records, by its columns.
import type { ComponentChildren, HTMLAttributes } from "preact";
import type { Cursor } from "./list";
import { type Sortable, SortButton, sortedAs } from "./sorting";

export interface Column<R> extends Sortable {
  readonly show: (row: R) => ComponentChildren;
  /** The class of its cells. `labelled` ones repeat their heading on a narrow screen, which has no
   * room to see whose they are, and so does a `count`, which is a `number`. */
  readonly look?: string | undefined;
  /** The tooltip of its heading. */
  readonly title?: string | undefined;
  /** The headings of what stands in the second line of its cells. */
  readonly below?: readonly Sortable[] | undefined;
}

/** What the rows of these columns can be sorted by. */
export function sortables<R>(columns: readonly Column<R>[]): Sortable[] {
  return columns.flatMap((column) => [column, ...(column.below ?? [])]);
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
  /** The order of the rows whose address has none; headings sort where it is said. */
  sort?: string;
  /** What a click anywhere on a row does. */
  open?: (row: R) => void;
  /** What else stands at a row. */
  attributes?: (row: R) => HTMLAttributes<HTMLTableRowElement>;
}

export function Table<R>(props: Props<R>) {
  const { columns, rows, keyOf, label, cursor, clicks, role, severalChosen, attributes } = props;
  const { sort, open } = props;
  const at = cursor?.at ?? -1;
  const choose = (index: number) => (event: MouseEvent) => {
    if (!(event.target instanceof Element && event.target.closest("a"))) cursor?.move(index - at);
  };
  const ofCursor = (index: number) => ({
    tabIndex: index === Math.max(at, 0) ? 0 : -1,
    "aria-selected": index === at,
    ...(clicks ? { onClick: choose(index) } : {}),
  });
  const opening = (row: R) => ({
    onClick: (event: MouseEvent) => {
      const own = event.target instanceof Element && event.target.closest(INTERACTIVE);
      const selects = String(getSelection() ?? "") !== "";
      if (!own && !selects && !event.ctrlKey && !event.metaKey && !event.shiftKey) open?.(row);
    },
  });
  const table = (
    <table
      class={open ? "list opens" : "list"}
      role={role ?? (cursor && "grid")}
      aria-label={label}
      {...(severalChosen && { "aria-multiselectable": true })}
    >
      <thead>
        <tr>
          {columns.map((column, place) => (
            <th
              key={place}
              class={isNumber(column.look) ? "number" : undefined}
              title={column.title}
              aria-sort={sort ? sortedAs(sortables([column]), sort) : undefined}
            >
              {column.look === "choice" ? (
                <span class="hidden">{column.head}</span>
              ) : (
                sortables([column]).map(({ head, sort: by }) =>
                  sort && by ? <SortButton key={by} head={head} sort={by} initial={sort} /> : head,
                )
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={cursor?.body ?? null}>
        {rows.map((row, index) => (
          <tr
            key={keyOf(row, index)}
            {...(cursor && ofCursor(index))}
            {...(open && opening(row))}
            {...attributes?.(row)}
          >
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
  return columns.length > MANY ? <div class="many">{table}</div> : table;
}

/** Columns; more are wider than most windows, and scroll without the frame. */
const MANY = 9;

const INTERACTIVE = "a, button, input, label, summary";

function isNumber(look: string | undefined): boolean {
  return look === "number" || look === "count";
}
