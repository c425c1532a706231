// A list of records: how many there are, their SQL and files, and what stands there without any.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { AskError } from "../api";
import { announceSometimes } from "../frame/live";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { type Asked, askAgain } from "../use_ask";
import { Icon } from "./icon";
import { counted } from "./numbers";
import { openSql, RowsShown } from "./rows_shown";
import { SaveView } from "./save_view";
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
  /** What else is chosen of the list, beside its files. */
  tools?: ComponentChildren;
  /** Rows that came since it was asked for. */
  fresh?: number;
  children: ComponentChildren;
}

export function ListScreen(props: Props) {
  const { command, noun, name = `${noun}s`, asked, rows, more, error, empty, children } = props;
  const { tools, fresh = 0 } = props;
  const sql = asked.answer?.sql;
  const number = asked.answer ? `${counted(rows.length, noun)}${more ? " so far" : ""}` : "";
  useStatus(command, number);
  useKeys({ sql: openSql(sql) });
  const arrived = fresh > 0 && rows.length > 0 ? counted(fresh, `new ${noun}`) : "";
  useEffect(() => {
    if (arrived) announceSometimes(arrived);
  }, [arrived]);
  const show = () => {
    scrollTo(0, 0);
    askAgain();
  };
  return (
    <>
      {arrived && (
        <p class="fresh">
          <button type="button" class="main" onClick={show}>
            <Icon name="arrow-up" /> {arrived}
          </button>
        </p>
      )}
      <Answered asked={asked}>
        {() =>
          rows.length ? (
            <>
              <RowsShown
                name={name}
                sql={sql}
                records={rows}
                tools={
                  <>
                    {tools}
                    <SaveView />
                  </>
                }
              />
              {children}
            </>
          ) : (
            <>
              <div class="rows-shown">
                <SaveView />
              </div>
              {empty}
            </>
          )
        }
      </Answered>
      <Refused error={error ?? null} />
      {more && (
        <button type="button" class="more" onClick={more}>
          More {name}
        </button>
      )}
    </>
  );
}
