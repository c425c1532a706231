// The rows of a session that are shown, and where their reader is among them.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { announceSometimes } from "../frame/live";
import { count, counted } from "../parts/numbers";
import { replaceParams } from "../url";
import { Actions } from "./actions";
import { RowView } from "./row_view";
import type { Row, Session } from "./rows";
import { arrived } from "./texts";
import { TimeBar } from "./time_bar";

/** Up to so many rows are all in the document, so that the browser's own find reaches them. */
export const WHOLE = 2_000;
const WINDOW = 300;
/** So many are drawn at once, and then with each step. */
const FIRST = 24;
const THEN = 80;

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
  const drawn = useDrawn(whole ? shown.length : 0, at);
  // Beyond that a window of rows around the cursor is in the document.
  const around = Math.max(0, Math.min(at - WINDOW / 2, shown.length - WINDOW));
  const inside = at < 0 || (at >= from && at < from + WINDOW);
  const start = whole ? 0 : inside ? Math.min(from, Math.max(0, shown.length - WINDOW)) : around;
  useEffect(() => setFrom(start), [start]);
  const end = whole ? Math.min(drawn, shown.length) : start + WINDOW;
  const open = (row: Row) => {
    clicked.current = row.id !== shown[at]?.id;
    replaceParams({ at: row.id });
  };
  const hands = useRef({ open, toggle });
  hands.current = { open, toggle };
  return (
    <div
      class="rows"
      role="feed"
      aria-label="The session"
      aria-busy={session.outline.continues || (whole && end < shown.length)}
      ref={list}
    >
      {start > 0 && (
        <button type="button" class="more" onClick={() => setFrom(Math.max(0, start - WINDOW / 2))}>
          {count(start)} earlier rows
        </button>
      )}
      {shown.slice(start, end).map((row, index) => (
        <RowShown
          key={row.id}
          row={row}
          session={session}
          folded={row.kind === "turn" && folded.has(row.turn.turn_id)}
          chosen={start + index === at}
          reached={start + index === Math.max(at, 0)}
          place={start + index + 1}
          of={shown.length}
          hands={hands}
        />
      ))}
      {!whole && end < shown.length && (
        <button type="button" class="more" onClick={() => setFrom(start + WINDOW / 2)}>
          {count(shown.length - end)} later rows
        </button>
      )}
    </div>
  );
}

/** How many rows are drawn by now: those up to the cursor and some more at once, the others after
 * the first frame, so that what is in view need not wait for the rest. */
function useDrawn(rows: number, at: number): number {
  const [drawn, setDrawn] = useState(at + 1 + FIRST);
  useEffect(() => {
    if (drawn >= rows) return;
    const timer = setTimeout(() => setDrawn(drawn + THEN));
    return () => clearTimeout(timer);
  }, [drawn, rows]);
  return Math.max(drawn, at + 1 + FIRST);
}

interface RowShownProps {
  row: Row;
  session: Session;
  folded: boolean;
  chosen: boolean;
  /** By the tab key. */
  reached: boolean;
  place: number;
  of: number;
  hands: { readonly current: { open: (row: Row) => void; toggle: (turn: string) => void } };
}

function RowShown({ row, session, folded, chosen, reached, place, of, hands }: RowShownProps) {
  // What stays the same element is not drawn again: a key changes two of a thousand rows.
  const inner = useMemo(
    () => [
      <TimeBar key="time" row={row} session={session} />,
      <div key="what" class="what">
        <RowView
          row={row}
          session={session}
          folded={folded}
          onFold={() => row.kind === "turn" && hands.current.toggle(row.turn.turn_id)}
        />
      </div>,
    ],
    [row, session, folded, hands],
  );
  const actions = chosen && <Actions id={row.id} span={spanOf(row)} />;
  return useMemo(
    () => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: j and k move the cursor here.
      <article
        id={`row ${row.id}`}
        class={classOf(row)}
        style={{ "--depth": String(row.depth) }}
        tabIndex={reached ? 0 : -1}
        aria-current={chosen}
        aria-posinset={place}
        aria-setsize={of}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest("a, button, summary")) return;
          if (!getSelection()?.toString()) hands.current.open(row);
        }}
      >
        {inner}
        {actions}
      </article>
    ),
    [row, inner, actions, chosen, reached, place, of, hands],
  );
}

/** Of the call that the row is of. */
function spanOf(row: Row): string {
  const call = row.kind === "call" || row.kind === "tool" ? row.call : null;
  return call?.span_id ?? "";
}

function isDrawn(list: { current: HTMLDivElement | null }): boolean {
  return list.current?.ariaBusy !== "true";
}

function classOf(row: Row): string {
  const together = row.kind === "tool" ? row.together : null;
  const at =
    together && (together.at === 0 ? "first" : together.at === together.of - 1 ? "last" : "");
  return [
    "row",
    `${row.kind}-row`,
    row.problem ? "problem-row" : "",
    together ? `together ${at}` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Whether what is known of a row lies over it, on a narrow screen. */
function isCovered(row: Element | null): boolean {
  const over = document.querySelector(".inspector")?.getBoundingClientRect();
  const box = row?.getBoundingClientRect();
  return Boolean(over && box && over.left < box.right && over.top < box.top + 40);
}

/** Bring the row of the cursor into view and give it the focus, unless a click on it chose it. */
export function useMoving(shown: readonly Row[], at: number): { current: boolean } {
  const clicked = useRef(false);
  const id = shown[at]?.id ?? "";
  useLayoutEffect(() => {
    const chosen = document.getElementById(`row ${id}`);
    const row = !id || (clicked.current && !isCovered(chosen)) ? null : chosen;
    clicked.current = false;
    // The waterfall and the field of what is found keep the focus: their keys move the cursor too.
    if (!document.activeElement?.closest("[role=treegrid], .find"))
      row?.focus({ preventScroll: true });
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
      const below = document.documentElement.scrollHeight - innerHeight - scrollY;
      atEnd.current = below <= 80 && isDrawn(list);
      if (atEnd.current) setUnseen((now) => (now.length ? [] : now));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [list]);
  const known = useRef(new Set(session.rows.map((row) => row.id)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a level or a fold brings no new rows.
  useLayoutEffect(() => {
    const came = shown.filter((row) => !known.current.has(row.id)).map((row) => row.id);
    for (const row of session.rows) known.current.add(row.id);
    if (!following || !came.length) return;
    if (atEnd.current) list.current?.lastElementChild?.scrollIntoView({ block: "end" });
    else setUnseen((now) => [...now, ...came]);
    const failed = session.outline.tools.at(-1)?.failed ? ", the last tool failed" : "";
    const ended = session.outline.running ? "" : "; the session has ended";
    announceSometimes(`${counted(came.length, "new row")}${failed}${ended}`);
  }, [session, following]);
  return unseen;
}
