// The rows of an answer as a table.
import { useState } from "preact/hooks";
import { columnOf } from "../parts/diagnosed";
import { counted } from "../parts/numbers";
import { Nothing, Scrolled } from "../parts/states";
import { Table } from "../parts/table";
import type { SqlAnswer } from "../types";
import { isNumeric } from "./chart";

const PAGE = 200;

export function Rows({ answer }: { answer: SqlAnswer }) {
  const [shown, setShown] = useState(PAGE);
  if (!answer.rows.length) return <Nothing title="No rows." />;
  return (
    <Scrolled label="Rows" look="result">
      <Table
        columns={answer.types.map((title, at) => ({
          ...columnOf(answer.columns, at, isNumeric(title)),
          title,
        }))}
        rows={answer.rows.slice(0, shown)}
        keyOf={(_, index) => String(index)}
        attributes={() => ({ tabIndex: 0 })}
      />
      {answer.rows.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + PAGE)}>
          {counted(answer.rows.length - shown, "more row")}
        </button>
      )}
    </Scrolled>
  );
}
