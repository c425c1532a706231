// A list of records: how many there are, their SQL and files, and what stands there without any.
import type { ComponentChildren } from "preact";
import type { AskError } from "../api";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import type { Asked } from "../use_ask";
import { counted } from "./numbers";
import { openSql, RowsShown } from "./rows_shown";
import { Answered, Refused } from "./states";

interface Props {
  /** The command that prints the same. */
  command: string;
  /** What a row is; `name` is what they are called together. */
  noun: string;
  name?: string;
  asked: Asked<{ readonly sql: string }>;
  rows: readonly object[];
  /** Asks for the rows that follow, where there are some. */
  more?: (() => void) | null;
  error?: AskError | null;
  empty: ComponentChildren;
  children: ComponentChildren;
}

export function ListScreen(props: Props) {
  const { command, noun, name = `${noun}s`, asked, rows, more, error, empty, children } = props;
  const sql = asked.answer?.sql;
  const number = asked.answer ? `${counted(rows.length, noun)}${more ? " so far" : ""}` : "";
  useStatus(command, number);
  useKeys({ sql: openSql(sql) });
  return (
    <>
      <Answered asked={asked}>
        {() =>
          rows.length ? (
            <>
              <RowsShown name={name} sql={sql} records={rows} />
              {children}
            </>
          ) : (
            empty
          )
        }
      </Answered>
      <Refused error={error ?? null} />
      {more && (
        <button type="button" class="more" onClick={more}>
          Older {name}
        </button>
      )}
    </>
  );
}
