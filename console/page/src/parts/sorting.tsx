// The order of a list, which the server puts it in and the address has: `sort=-cost`.
import { param, setParams } from "../url";
import { Icon } from "./icon";

export interface Sortable {
  readonly head: string;
  /** What the server sorts by, with the `-` of the way that is asked for first. */
  readonly sort?: string | undefined;
}

const nameOf = (sort: string) => sort.replace(/^-/, "");
const turned = (sort: string) => (sort.startsWith("-") ? sort.slice(1) : `-${sort}`);

/** `initial` is the order of a list whose address has none. */
function choose(sort: string, initial: string): void {
  setParams({ sort: sort === initial ? "" : sort, at: "" });
}

/** As `aria-sort` has it, of a heading that may hold several. */
export function sortedAs(columns: readonly Sortable[], initial: string) {
  const now = param("sort") || initial;
  const on = columns.some(({ sort }) => sort && nameOf(sort) === nameOf(now));
  if (!on) return undefined;
  return now.startsWith("-") ? "descending" : "ascending";
}

/** A heading that sorts: a first time its own way, then the other. */
export function SortButton({ head, sort = "", initial }: Sortable & { initial: string }) {
  const now = param("sort") || initial;
  const on = nameOf(now) === nameOf(sort);
  return (
    <button
      type="button"
      class={on ? "sort on" : "sort"}
      title={`Sort by ${head}`}
      onClick={() => choose(now === sort ? turned(sort) : sort, initial)}
    >
      {head}
      {on && <Icon name={now.startsWith("-") ? "arrow-down" : "arrow-up"} />}
    </button>
  );
}

/** The same where there is no room for headings. */
export function SortChoice({
  columns,
  initial,
}: {
  columns: readonly Sortable[];
  initial: string;
}) {
  const now = param("sort") || initial;
  const sorts = columns.flatMap(({ head, sort }) => (sort ? [{ head, sort }] : []));
  const known = sorts.some(({ sort }) => nameOf(sort) === nameOf(now));
  return (
    <label class="sort-choice">
      Sort by{" "}
      <select value={now} onChange={(event) => choose(event.currentTarget.value, initial)}>
        {!known && <option value={now}>{nameOf(now)}</option>}
        {sorts.flatMap(({ head, sort }) =>
          [sort, turned(sort)].map((one) => (
            <option key={one} value={one}>
              {head}, {wordsOf(one, sort)}
            </option>
          )),
        )}
      </select>
    </label>
  );
}

/** What comes first, of times, numbers (whose first click sorts down) and texts. */
function wordsOf(order: string, usual: string): string {
  const down = order.startsWith("-");
  if (TIMES.includes(nameOf(order))) return down ? "newest first" : "oldest first";
  if (usual.startsWith("-")) return down ? "largest first" : "smallest first";
  return down ? "Z to A" : "A to Z";
}
const TIMES: readonly string[] = ["time", "first", "last"];
