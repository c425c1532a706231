// The session as a waterfall: every turn, call and tool on a line, its time as a bar. Which line is
// chosen, and what is folded, is that of the conversation.
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted, Icon, plain, seconds, shownRows, useNow } from "/static/app.js";
import type { Row, Session } from "../replay/rows";
import { type Axis, type Bar, type Line, timeline } from "./timeline";

/** Pixels of a line, as the style has it. */
const LINE = 24;
const AROUND = 10;

export interface Props {
  session: Session;
  chosen: Row | undefined;
  folded: ReadonlySet<string>;
  following: boolean;
  open: (id: string) => void;
  toggle: (turn: string) => void;
}

export function Waterfall({ session, chosen, folded, following, open, toggle }: Props) {
  const now = useNow(following && session.outline.running);
  const lines = useMemo(
    () => timeline(session, shownRows(session.rows, 3, folded), now),
    [session, folded, now],
  );
  const id = chosen?.kind === "end" ? chosen.turn.turn_id : (chosen?.id ?? "");
  const here = lines.findIndex((line) => line.kind === "bar" && line.row.id === id);
  const grid = useRef<HTMLDivElement>(null);
  const [top, height] = useScrolled(grid);
  useLayoutEffect(() => {
    const element = grid.current;
    if (!element || here < 0) return;
    // Of its own box only: scrollIntoView would move the conversation too.
    const least = (here + 2) * LINE - element.clientHeight;
    element.scrollTop = Math.min(Math.max(element.scrollTop, least), here * LINE);
    if (element.contains(document.activeElement))
      element.querySelector<HTMLElement>('[aria-selected="true"]')?.focus({ preventScroll: true });
  }, [here]);
  const first = Math.max(0, Math.floor(top / LINE) - AROUND);
  const last = Math.ceil((top + height) / LINE) + AROUND;
  const move = (by: 1 | -1, from: number) => {
    for (let at = from; at >= 0 && at < lines.length; at += by) {
      const line = lines[at];
      if (line?.kind === "bar") return open(line.row.id);
    }
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1, here + 1),
    ArrowUp: () => move(-1, here - 1),
    Home: () => move(1, 0),
    End: () => move(-1, lines.length - 1),
    ArrowLeft: () => fold(true),
    ArrowRight: () => fold(false),
  };
  const fold = (on: boolean) => {
    const line = lines[here];
    if (line?.kind !== "bar") return;
    const { row } = line;
    if (row.kind === "turn" && folded.has(row.id) !== on) toggle(row.id);
    else if (on && row.inside.length) open(row.inside.at(-1) ?? "");
    else if (!on && row.kind === "turn") move(1, here + 1);
  };
  const within = lines.flatMap((_, at) => ((at >= first && at <= last) || at === here ? [at] : []));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the treegrid in it.
    <div
      class="waterfall"
      ref={grid}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act();
      }}
    >
      <table role="treegrid" aria-label="Waterfall" aria-rowcount={lines.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">what</th>
            <th scope="col">began</th>
            <th scope="col">took</th>
            <th scope="col">when</th>
          </tr>
        </thead>
        <tbody>
          {within.map((at, index) => {
            const line = lines[at];
            return (
              line && (
                <Fragment key={line.kind === "gap" ? line.id : line.row.id}>
                  <Space lines={at - (within[index - 1] ?? -1) - 1} />
                  <TimeLine
                    line={line}
                    at={at}
                    chosen={at === here}
                    entry={at === Math.max(here, 0)}
                    folded={folded}
                    open={open}
                    toggle={toggle}
                  />
                </Fragment>
              )
            );
          })}
          <Space lines={lines.length - (within.at(-1) ?? -1) - 1} />
        </tbody>
      </table>
    </div>
  );
}

/** In the place of lines that are not in the document. */
function Space({ lines }: { lines: number }) {
  return lines > 0 ? (
    <tr class="space" style={{ "--lines": String(lines) }}>
      <td />
    </tr>
  ) : null;
}

function useScrolled(grid: { current: HTMLDivElement | null }): [number, number] {
  const [seen, setSeen] = useState<[number, number]>([0, 800]);
  useEffect(() => {
    const element = grid.current;
    if (!element) return;
    const look = () => setSeen([element.scrollTop, element.clientHeight]);
    const resized = new ResizeObserver(look);
    resized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [grid]);
  return seen;
}

interface LineProps {
  line: Line;
  at: number;
  chosen: boolean;
  /** Whether Tab comes here. */
  entry: boolean;
  folded: ReadonlySet<string>;
  open: (id: string) => void;
  toggle: (turn: string) => void;
}

function TimeLine({ line, at, chosen, entry, folded, open, toggle }: LineProps) {
  const depth = { "--depth": String(line.level - 1) };
  if (line.kind === "gap") {
    return (
      <tr class="idle" aria-rowindex={at + 2} aria-level={line.level} style={depth}>
        <td colSpan={3} class="name">
          nothing ran for {seconds(line.seconds)}
        </td>
        <td>
          <Bars axis={line.axis} />
        </td>
      </tr>
    );
  }
  const { row } = line;
  const turn = row.kind === "turn";
  return (
    <tr
      class={row.problem ? "bad" : undefined}
      aria-rowindex={at + 2}
      aria-level={line.level}
      aria-selected={chosen}
      {...(turn ? { "aria-expanded": !folded.has(row.id) } : {})}
      tabIndex={entry ? 0 : -1}
      style={depth}
      onClick={() => open(row.id)}
      onDblClick={() => turn && toggle(row.id)}
    >
      <td class="name" title={nameOf(row)}>
        {turn && <Icon name={folded.has(row.id) ? "chevron-right" : "chevron-down"} />}
        {nameOf(row)}
        {line.beside > 0 && (
          <span class="faint" title={`parallel to ${counted(line.beside, "other")}`}>
            {" "}
            <Icon name="split" />
            <span class="hidden">parallel to {counted(line.beside, "other")}</span>
          </span>
        )}
      </td>
      <td>{line.began < 0.001 ? "0" : seconds(line.began)}</td>
      <td>
        {line.running && (
          <>
            <Icon name="clock" /> <span class="hidden">running, </span>
          </>
        )}
        {seconds(line.took)}
      </td>
      <td>
        <Bars axis={line.axis} bar={line} />
      </td>
    </tr>
  );
}

function nameOf(row: Bar["row"]): string {
  if (row.kind === "call") return `call ${row.number}`;
  if (row.kind === "tool") return plain(row.request.asked.name);
  const name = plain(row.turn.agent_name);
  return `${row.turn.parent_turn_id ? "Nested turn" : "Turn"} ${row.number} ${name}`;
}

/** The bar on its axis, and where the axis is folded. */
function Bars({ axis, bar }: { axis: Axis; bar?: Bar }) {
  const kind = bar && (bar.running ? "runs" : bar.row.problem ? "failed" : bar.row.kind);
  return (
    <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      {axis.folds.map((fold) => (
        <rect
          key={fold.from}
          class="fold-mark"
          x={1000 * fold.from}
          y="0"
          width={1000 * (fold.to - fold.from)}
          height="10"
        />
      ))}
      {bar && (
        <rect
          class={kind}
          x={Math.min(995, 1000 * bar.from)}
          y="1"
          width={Math.max(5, 1000 * (bar.to - bar.from))}
          height="8"
        />
      )}
    </svg>
  );
}
