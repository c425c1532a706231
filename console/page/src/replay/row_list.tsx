// The rows of a session that are shown, and where their reader is among them.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { announceSometimes } from "../frame/live";
import { count, counted } from "../parts/numbers";
import { setParams } from "../url";
import { RowView } from "./row_view";
import type { Row, Session } from "./rows";
import { arrived } from "./texts";
import { TimeBar } from "./time_bar";

/** Up to so many rows are all in the document, so that the browser's own find reaches them. */
export const WHOLE = 2_000;
const WINDOW = 300;

interface RowsProps {
  list: { current: HTMLDivElement | null };
  session: Session;
  shown: readonly Row[];
  at: number;
  folded: ReadonlySet<string>;
  clicked: { current: boolean };
  toggle: (turn: string) => void;
}

export function Rows({ list, session, shown, at, folded, clicked, toggle }: RowsProps) {
  const [from, setFrom] = useState(0);
  const whole = shown.length <= WHOLE;
  // Beyond that a window of rows around the cursor is in the document.
  const around = Math.max(0, Math.min(at - WINDOW / 2, shown.length - WINDOW));
  const inside = at < 0 || (at >= from && at < from + WINDOW);
  const start = whole ? 0 : inside ? Math.min(from, Math.max(0, shown.length - WINDOW)) : around;
  useEffect(() => setFrom(start), [start]);
  const end = whole ? shown.length : start + WINDOW;
  return (
    <div class="rows" role="feed" aria-label="The session" ref={list}>
      {start > 0 && (
        <button type="button" class="more" onClick={() => setFrom(Math.max(0, start - WINDOW / 2))}>
          {count(start)} earlier rows
        </button>
      )}
      {shown.slice(start, end).map((row, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: j and k move the cursor here.
        <article
          key={row.id}
          id={`row ${row.id}`}
          class={classOf(row)}
          style={{ "--depth": String(row.depth) }}
          tabIndex={start + index === Math.max(at, 0) ? 0 : -1}
          aria-current={start + index === at}
          aria-posinset={start + index + 1}
          aria-setsize={shown.length}
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest("a, button, summary"))
              return;
            if (getSelection()?.toString()) return;
            clicked.current = start + index !== at;
            setParams({ at: row.id }, { replace: true });
          }}
        >
          <TimeBar row={row} session={session} />
          <div class="what">
            <RowView
              row={row}
              session={session}
              folded={row.kind === "turn" && folded.has(row.turn.turn_id)}
              onFold={() => row.kind === "turn" && toggle(row.turn.turn_id)}
            />
          </div>
        </article>
      ))}
      {end < shown.length && (
        <button type="button" class="more" onClick={() => setFrom(start + WINDOW / 2)}>
          {count(shown.length - end)} later rows
        </button>
      )}
    </div>
  );
}

function classOf(row: Row): string {
  const together = row.kind === "tool" ? row.together : null;
  const at =
    together && (together.at === 0 ? "first" : together.at === together.of - 1 ? "last" : "");
  return ["row", row.problem ? "problem-row" : "", together ? `together ${at}` : ""]
    .filter(Boolean)
    .join(" ");
}

/** Bring the row of the cursor into view and give it the focus, unless a click on it chose it. */
export function useMoving(shown: readonly Row[], at: number): { current: boolean } {
  const clicked = useRef(false);
  const id = shown[at]?.id ?? "";
  useLayoutEffect(() => {
    const row = clicked.current || !id ? null : document.getElementById(`row ${id}`);
    clicked.current = false;
    // The waterfall keeps the focus that it has: its own keys move the cursor too.
    if (!document.activeElement?.closest("[role=treegrid]")) row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  }, [id]);
  // Texts that come above it push away the row that an address named, until somebody moves.
  const settled = useRef(false);
  useEffect(() => {
    const settle = () => {
      settled.current = true;
    };
    const leaving = new AbortController();
    for (const name of ["wheel", "keydown", "pointerdown"])
      addEventListener(name, settle, { passive: true, signal: leaving.signal });
    return () => leaving.abort();
  }, []);
  const texts = arrived.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when texts have come.
  useEffect(() => {
    if (id && !settled.current)
      document.getElementById(`row ${id}`)?.scrollIntoView({ block: "nearest" });
  }, [texts]);
  return clicked;
}

/** The rows that came while their reader was elsewhere. Whoever reads the end sees what is
 * appended; whoever reads elsewhere stays there. */
export function useNewRows(
  list: { current: HTMLDivElement | null },
  session: Session,
  shown: readonly Row[],
  following: boolean,
): readonly string[] {
  const [unseen, setUnseen] = useState<readonly string[]>([]);
  const atEnd = useRef(true);
  useEffect(() => {
    const look = () => {
      atEnd.current = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
      if (atEnd.current) setUnseen((now) => (now.length ? [] : now));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  const known = useRef(new Set(session.rows.map((row) => row.id)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a level or a fold brings no new rows.
  useLayoutEffect(() => {
    const came = shown.filter((row) => !known.current.has(row.id)).map((row) => row.id);
    for (const row of session.rows) known.current.add(row.id);
    if (!following || !came.length) return;
    if (atEnd.current) list.current?.lastElementChild?.scrollIntoView({ block: "end" });
    else setUnseen((now) => [...now, ...came]);
    const failed = session.outline.tools.at(-1)?.failed ? ", the last tool failed" : "";
    const ended = session.outline.running ? "" : "; it has ended";
    announceSometimes(`${counted(came.length, "new row")}${failed}${ended}`);
  }, [session, following]);
  return unseen;
}
