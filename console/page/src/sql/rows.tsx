// The rows of an answer as a table.
import { useState } from "preact/hooks";
import { written } from "../parts/diagnosed";
import { counted } from "../parts/numbers";
import { Nothing } from "../parts/states";
import { plain } from "../parts/text";
import type { SqlAnswer } from "../types";
import { isNumeric } from "./chart";

const PAGE = 200;

export function Rows({ answer }: { answer: SqlAnswer }) {
  const [shown, setShown] = useState(PAGE);
  if (!answer.rows.length) return <Nothing title="No rows." />;
  const numbers = answer.types.map(isNumeric);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard.
    <section class="result" tabIndex={0} aria-label="Rows">
      <table class="list">
        <thead>
          <tr>
            {answer.columns.map((name, at) => (
              <th
                key={String(at)}
                class={numbers[at] ? "number" : undefined}
                title={answer.types[at]}
              >
                {plain(name) || "–"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.rows.slice(0, shown).map((row, index) => (
            <tr key={String(index)} tabIndex={0}>
              {row.map((value, at) => (
                <td key={String(at)} class={numbers[at] ? "number" : "text"}>
                  {written(value, answer.columns[at] ?? "", row, answer.columns)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {answer.rows.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + PAGE)}>
          {counted(answer.rows.length - shown, "more row")}
        </button>
      )}
    </section>
  );
}
