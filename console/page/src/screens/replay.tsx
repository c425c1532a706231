// Replay: a session as it happened. Levels and folds filter rows that are there; the cursor, the
// level, the folds and whether it is followed stand in the address.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AskError, ask } from "../api";
import { announce } from "../frame/live";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { count, counted, dollars } from "../parts/numbers";
import { Answered, Nothing } from "../parts/states";
import { plain } from "../parts/text";
import { useFind } from "../replay/find";
import { useOutline } from "../replay/follow";
import { Inspector } from "../replay/inspector";
import { SessionMap } from "../replay/map";
import { RowView } from "../replay/row_view";
import { hashesOf, type Level, type Row, type Session, sessionOf, shownRows } from "../replay/rows";
import { TimeBar } from "../replay/time_bar";
import { useTextsOf } from "../replay/use_texts";
import type { Outline } from "../types";
import { address, go, param, setParams, withParams } from "../url";

/** Up to so many rows are all in the document, so that the browser's own find reaches them. */
const WHOLE = 2_000;
const WINDOW = 300;

export function Replay() {
  const [, project = "", session = ""] = address.value.path;
  const query = { project, session, trace: param("trace") };
  const following = param("f") === "1";
  const { asked, outline } = useOutline(query, following);
  useStatus(
    commandLine(["replay", session || query.trace]),
    outline ? counted(outline.calls.length, "call") : "",
  );
  return (
    <Answered asked={asked} heading={plain(session || query.trace)}>
      {() =>
        outline?.steps.length ? <Conversation outline={outline} following={following} /> : <None />
      }
    </Answered>
  );
}

function None() {
  return (
    <Nothing title="Nothing landed for this session." heading>
      <p>
        What is still in the spool lands with the next look; what was forgotten, or dropped by
        retention, is gone. <code>turnspan status</code> says what waits,{" "}
        <code>turnspan sessions</code> lists what is there.
      </p>
    </Nothing>
  );
}

function Conversation({ outline, following }: { outline: Outline; following: boolean }) {
  const session = useMemo(() => sessionOf(outline), [outline]);
  const level = Number(param("l") || "3") as Level;
  const foldedText = param("d");
  const folded = useMemo(() => new Set(foldedText.split(" ").filter(Boolean)), [foldedText]);
  const shown = useMemo(() => shownRows(session.rows, level, folded), [session, level, folded]);
  const at = shown.findIndex((row) => row.id === param("at"));
  const hashes = useMemo(() => hashesOf(session).slice(0, 2 * WHOLE), [session]);
  useTextsOf(outline.project, outline.session_id || outline.trace_id, hashes);
  const list = useRef<HTMLDivElement>(null);
  const moved = useMoving(list, shown, at, following);
  const find = useFind(session, (id) => open(id));
  const open = (id: string) => {
    const row = session.rows.find((one) => one.id === id);
    const left = [...folded].filter((turn) => !row?.inside.includes(turn));
    moved.current = true;
    setParams(
      { at: id, d: left.join(" "), ...(row && row.level > level ? { l: String(row.level) } : {}) },
      { replace: true },
    );
  };
  useReplayKeys({ session, shown, at, level, folded, following, open, find: find.begin });
  return (
    <div class="replay" data-level={level}>
      <Header outline={outline} level={level} following={following} />
      {find.bar}
      <Rows list={list} session={session} shown={shown} at={at} folded={folded} />
      <SessionMap rows={shown} at={at} found={find.found} open={open} />
      <Inspector row={shown[at]} session={session} />
    </div>
  );
}

function Header({
  outline,
  level,
  following,
}: {
  outline: Outline;
  level: Level;
  following: boolean;
}) {
  const roots = outline.turns.filter((turn) => !turn.parent_turn_id);
  const cost = roots.some((turn) => turn.cost_usd !== null)
    ? roots.reduce((sum, turn) => sum + (turn.cost_usd ?? 0), 0)
    : null;
  return (
    <header class="bar">
      <h1>
        <bdi>{plain(outline.session_id || outline.trace_id)}</bdi>
      </h1>
      <span class="faint">
        {counted(outline.turns.length, "turn")} · {counted(outline.calls.length, "call")} ·{" "}
        {dollars(cost)}
      </span>
      <span class="space" />
      <button type="button" onClick={() => void save(outline)}>
        Save as HTML
      </button>
      <button
        type="button"
        aria-pressed={following}
        title={hint("follow")}
        onClick={() => setParams({ f: following ? "" : "1" }, { replace: true })}
      >
        <span aria-hidden="true" class={following && outline.running ? "busy" : "faint"}>
          ●{" "}
        </span>
        {following ? (outline.running ? "following" : "followed: nothing runs") : "follow"}
      </button>
      <fieldset class="levels">
        <legend class="hidden">Level of detail</legend>
        {([1, 2, 3] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={level === one}
            title={LEVELS[one]}
            onClick={() => setParams({ l: String(one) }, { replace: true })}
          >
            {one}
          </button>
        ))}
      </fieldset>
    </header>
  );
}

/** One file that needs nothing else; it is made where the command makes it. */
async function save(outline: Outline): Promise<void> {
  const { project, session_id, trace_id } = outline;
  try {
    const { answer } = await ask("GET /api/saved", {
      project,
      session: session_id,
      trace: trace_id,
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([answer.html], { type: "text/html" }));
    link.download = `${(session_id || trace_id).replace(/[^\w.-]+/g, "_").slice(0, 80)}.html`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    announce(error instanceof AskError ? error.message : "It could not be saved");
  }
}

const LEVELS = {
  1: "what the user and the agent said, and how turns ended",
  2: "with calls and tools on a line each",
  3: "everything: thinking, results, system prompts",
} as const;

interface RowsProps {
  list: { current: HTMLDivElement | null };
  session: Session;
  shown: readonly Row[];
  at: number;
  folded: ReadonlySet<string>;
}

function Rows({ list, session, shown, at, folded }: RowsProps) {
  const [from, setFrom] = useState(0);
  const whole = shown.length <= WHOLE;
  // Beyond that a window of rows around the cursor is in the document.
  const around = Math.max(0, Math.min(at - WINDOW / 2, shown.length - WINDOW));
  const inside = at < 0 || (at >= from && at < from + WINDOW);
  const start = whole ? 0 : inside ? Math.min(from, Math.max(0, shown.length - WINDOW)) : around;
  useEffect(() => setFrom(start), [start]);
  const end = whole ? shown.length : start + WINDOW;
  const toggle = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setParams({ d: [...next].join(" ") }, { replace: true });
  };
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
          class={`row${row.problem ? " problem-row" : ""}`}
          style={{ "--depth": String(row.depth) }}
          tabIndex={start + index === Math.max(at, 0) ? 0 : -1}
          aria-current={start + index === at}
          aria-posinset={start + index + 1}
          aria-setsize={shown.length}
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest("a, button, summary"))
              return;
            if (getSelection()?.toString()) return;
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

/** Bring the row of the cursor into view and give it the focus, where a key has moved it. */
function useMoving(
  list: { current: HTMLDivElement | null },
  shown: readonly Row[],
  at: number,
  following: boolean,
) {
  const moved = useRef(true);
  const id = shown[at]?.id ?? "";
  const last = shown.length;
  useLayoutEffect(() => {
    if (!moved.current || !id) return;
    const row = document.getElementById(`row ${id}`);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
    moved.current = false;
  }, [id]);
  // Whoever reads the end sees what is appended; whoever reads elsewhere stays there.
  const atEnd = useRef(true);
  useEffect(() => {
    const look = () => {
      atEnd.current = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  const before = useRef(last);
  useLayoutEffect(() => {
    const grown = last > before.current;
    before.current = last;
    if (following && grown && atEnd.current)
      list.current?.lastElementChild?.scrollIntoView({ block: "end" });
  }, [last, following, list]);
  return moved;
}

interface Keyed {
  session: Session;
  shown: readonly Row[];
  at: number;
  level: Level;
  folded: ReadonlySet<string>;
  following: boolean;
  open: (id: string) => void;
  find: () => void;
}

function useReplayKeys({ session, shown, at, level, folded, following, open, find }: Keyed): void {
  const row = shown[at];
  const { project, session_id } = session.outline;
  const move = (by: 1 | -1, wanted: (row: Row) => boolean = () => true) => {
    for (let to = at + by; to >= 0 && to < shown.length; to += by) {
      const next = shown[to];
      if (next && wanted(next)) return open(next.id);
    }
    return false;
  };
  // Problems are looked for in all rows: a fold or a level does not hide them from these keys.
  const problem = (by: 1 | -1) => {
    const every = session.rows;
    const from = row ? every.indexOf(row) : by > 0 ? -1 : every.length;
    for (let to = from + by; to >= 0 && to < every.length; to += by) {
      const next = every[to];
      if (next?.problem) return open(next.id);
    }
    announce(by > 0 ? "No problem after this" : "No problem before this");
    return true;
  };
  const fold = (on: boolean) => {
    const turn = row?.kind === "turn" ? row.turn.turn_id : row?.inside.at(-1);
    if (!turn || folded.has(turn) === on) return false;
    const next = on ? [...folded, turn] : [...folded].filter((one) => one !== turn);
    setParams({ d: next.join(" "), ...(on ? { at: turn } : {}) }, { replace: true });
    return true;
  };
  const to = (next: number) => {
    if (next < 1 || next > 3) return false;
    setParams({ l: String(next) }, { replace: true });
    return true;
  };
  const call = row?.kind === "call" ? row.call : row?.kind === "tool" ? row.call : null;
  const span = call?.span_id ?? "";
  const marked = param("x");
  const turn = row?.kind === "turn" || row?.kind === "end" ? row.turn.turn_id : row?.inside[0];
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    nextGroup: () => move(1, (one) => one.kind === "turn"),
    previousGroup: () => move(-1, (one) => one.kind === "turn"),
    nextProblem: () => problem(1),
    previousProblem: () => problem(-1),
    less: () => to(level - 1),
    more: () => to(level + 1),
    fold: () => fold(true),
    unfold: () => fold(false),
    up: () => go(withParams(["turns"], { session: session_id, project })),
    follow: () => setParams({ f: following ? "" : "1" }, { replace: true }),
    find,
    ...(turn ? { judge: () => go(withParams(["review"], { of: project, at: turn })) } : {}),
    ...(row ? { copyId: () => copy(row.id.split(".")[0] ?? row.id, "the id") } : {}),
    ...(span
      ? {
          open: () => go(withParams(["call", project, span], {})),
          request: () => go(withParams(["call", project, span], { show: "request" })),
          context: () => go(withParams(["context", project, span], {})),
          select: () => {
            setParams({ x: marked === span ? "" : span }, { replace: true });
            announce(
              marked === span ? "Not selected any more" : "Selected: D compares another with it",
            );
          },
          copyCurl: () => copyAs(project, span, "curl"),
          copyPython: () => copyAs(project, span, "python"),
        }
      : {}),
    ...(call?.before
      ? { changed: () => go(withParams(["diff", project, `${call.before}..${span}`], {})) }
      : {}),
    ...(span && marked && marked !== span
      ? { changedFrom: () => go(withParams(["diff", project, `${marked}..${span}`], {})) }
      : {}),
  });
}

async function copyAs(project: string, span: string, form: "curl" | "python"): Promise<void> {
  const { answer } = await ask("GET /api/request", { project, span });
  if (answer[form]) await copy(answer[form], form === "curl" ? "the curl command" : "the program");
  else announce(answer.reason);
}
