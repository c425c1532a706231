// Which columns a list shows: remembered by this browser, and in the address of who shares it.
import { useEffect } from "preact/hooks";
import { keep, recall } from "../storage";
import { param, replaceParams } from "../url";
import { Icon } from "./icon";
import type { Column } from "./table";

const nameOf = ({ head }: { readonly head: string }) => head.replaceAll(" ", "_");
/** Stands in the address where no column is chosen. */
const NONE = "none";

/** Of all columns those that are shown, and what chooses them. `usual` are the heads of those that
 * are shown to whoever has chosen none. */
export function useColumns<R>(
  list: string,
  all: readonly Column<R>[],
  usual: readonly string[],
): { shown: readonly Column<R>[]; chooser: preact.JSX.Element } {
  const key = `turnspan.columns.${list}`;
  const wanted = param("cols");
  useEffect(() => {
    const known = recall(key);
    if (!wanted && known) replaceParams({ cols: known });
  }, [key, wanted]);
  const chosen = wanted ? wanted.split(",") : usual.map((head) => nameOf({ head }));
  const choose = (names: readonly string[] | null) => {
    const text =
      names &&
      (all
        .map(nameOf)
        .filter((one) => names.includes(one))
        .join() ||
        NONE);
    keep(key, text ?? "");
    replaceParams({ cols: text ?? "" });
  };
  const chooser = (
    <details class="column-choice">
      <summary>
        <Icon name="columns-3" /> Columns
      </summary>
      <fieldset>
        <legend class="hidden">Columns</legend>
        {all.map((column) => {
          const name = nameOf(column);
          const on = chosen.includes(name);
          const others = chosen.filter((other) => other !== name);
          return (
            <label key={name}>
              <input
                type="checkbox"
                checked={on}
                onChange={() => choose(on ? others : [...chosen, name])}
              />{" "}
              {column.head}
            </label>
          );
        })}
        <button type="button" onClick={() => choose(null)}>
          Usual columns
        </button>
      </fieldset>
    </details>
  );
  return { shown: all.filter((column) => chosen.includes(nameOf(column))), chooser };
}
