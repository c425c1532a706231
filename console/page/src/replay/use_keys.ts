// What the keys do in a replay.
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../api";
import { announce } from "../frame/live";
import { useKeys } from "../keys";
import { copy } from "../parts/copy";
import { placeAfter } from "../parts/list";
import { switchForm } from "../reading/forms";
import { go, param, replaceParams, to, toggleParam, withParams } from "../url";
import { hasEnded, type Level, type Row, type Session } from "./rows";

interface Keyed {
  session: Session;
  shown: readonly Row[];
  at: number;
  level: Level;
  folded: ReadonlySet<string>;
  open: (id: string) => void;
  find: () => void;
}

export function useReplayKeys(keyed: Keyed): void {
  const { session, shown, at, level, folded, open, find } = keyed;
  const row = shown[at];
  const { project, session_id } = session.outline;
  const move = (by: 1 | -1, wanted: (row: Row) => boolean = () => true) => {
    const next = shown[placeAfter(shown, at, by, wanted)];
    return next ? open(next.id) : false;
  };
  const waiting = useRef<1 | -1 | 0>(0);
  // Problems are looked for in all rows: a fold or a level does not hide them from these keys.
  const problem = (by: 1 | -1) => {
    const every = session.rows;
    const from = row ? every.indexOf(row) : by > 0 ? -1 : every.length;
    const next = every[placeAfter(every, from, by, (other) => other.problem)];
    // The rest of a long session is still to come: it may have one.
    if (session.outline.continues && (!next || (by < 0 && !row))) waiting.current = by;
    else if (next) open(next.id);
    else announce(by > 0 ? "No problem after this" : "No problem before this");
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the rest has come.
  useEffect(() => {
    const by = waiting.current;
    waiting.current = 0;
    if (by) problem(by);
  }, [session.outline.continues]);
  const fold = (on: boolean) => {
    const turn = row?.kind === "turn" ? row.turn.turn_id : row?.inside.at(-1);
    if (!turn || folded.has(turn) === on) return false;
    const next = on ? [...folded, turn] : [...folded].filter((one) => one !== turn);
    replaceParams({ d: next.join(" "), ...(on ? { at: turn } : {}) });
    return true;
  };
  const toLevel = (next: number) => {
    if (next < 1 || next > 3) return false;
    replaceParams({ l: String(next) });
    return true;
  };
  const of = row?.kind === "call" || row?.kind === "tool" ? row.call : null;
  const call = of && hasEnded(of) ? of : null;
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
    less: () => toLevel(level - 1),
    more: () => toLevel(level + 1),
    fold: () => fold(true),
    unfold: () => fold(false),
    up: () => go(withParams(["turns"], { session: session_id, project })),
    follow: () => toggleParam("f"),
    find,
    waterfall: () => toggleParam("w"),
    form: (row?.kind === "call" || row?.kind === "tool") && (() => switchForm(row.id)),
    judge: turn && (() => go(withParams(["review"], { of: project, at: turn }))),
    copyId: row && (() => copy(row.id.split(".")[0] ?? row.id, "the id")),
    ...(span && {
      open: () => go(to("call", project, span)),
      request: () => go(withParams(["call", project, span], { show: "json" })),
      context: () => go(to("context", project, span)),
      select: () => {
        replaceParams({ x: marked === span ? "" : span });
        announce(
          marked === span ? "Not selected any more" : "Selected: D compares another with it",
        );
      },
      copyCurl: () => copyAs(project, span, "curl"),
      copyPython: () => copyAs(project, span, "python"),
    }),
    changed: call?.before && (() => go(to("diff", project, `${call.before}..${span}`))),
    changedFrom:
      span && marked && marked !== span && (() => go(to("diff", project, `${marked}..${span}`))),
  });
}

async function copyAs(project: string, span: string, form: "curl" | "python"): Promise<void> {
  const { answer } = await ask("GET /api/request", { project, span });
  if (answer[form]) await copy(answer[form], form === "curl" ? "the curl command" : "the program");
  else announce(answer.reason);
}
