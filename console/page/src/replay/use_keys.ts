// What the keys do in a replay.
import { ask } from "../api";
import { announce } from "../frame/live";
import { useKeys } from "../keys";
import { copy } from "../parts/copy";
import { nextForm } from "../reading/forms";
import { go, param, setParams, to, withParams } from "../url";
import { textOf } from "./message";
import type { Level, Row, Session } from "./rows";
import { partsOf } from "./texts";
import { argumentsOf } from "./tool_view";

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

export function useReplayKeys({
  session,
  shown,
  at,
  level,
  folded,
  following,
  open,
  find,
}: Keyed): void {
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
  const toLevel = (next: number) => {
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
    less: () => toLevel(level - 1),
    more: () => toLevel(level + 1),
    fold: () => fold(true),
    unfold: () => fold(false),
    up: () => go(withParams(["turns"], { session: session_id, project })),
    follow: () => setParams({ f: following ? "" : "1" }, { replace: true }),
    find,
    waterfall: () => setParams({ w: param("w") ? "" : "1" }, { replace: true }),
    ...(row?.kind === "call" || row?.kind === "tool"
      ? { form: () => nextForm(row.id, textsOf(row, session)) }
      : {}),
    ...(turn ? { judge: () => go(withParams(["review"], { of: project, at: turn })) } : {}),
    ...(row ? { copyId: () => copy(row.id.split(".")[0] ?? row.id, "the id") } : {}),
    ...(span
      ? {
          open: () => go(to("call", project, span)),
          request: () => go(withParams(["call", project, span], { show: "request" })),
          context: () => go(to("context", project, span)),
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
    ...(call?.before ? { changed: () => go(to("diff", project, `${call.before}..${span}`)) } : {}),
    ...(span && marked && marked !== span
      ? { changedFrom: () => go(to("diff", project, `${marked}..${span}`)) }
      : {}),
  });
}

async function copyAs(project: string, span: string, form: "curl" | "python"): Promise<void> {
  const { answer } = await ask("GET /api/request", { project, span });
  if (answer[form]) await copy(answer[form], form === "curl" ? "the curl command" : "the program");
  else announce(answer.reason);
}

/** The texts of a row that can be shown in several forms. */
function textsOf(row: Extract<Row, { kind: "call" | "tool" }>, session: Session): unknown[] {
  if (row.kind === "tool") {
    const { asked, ran } = row.request;
    return [argumentsOf(row, session) ?? asked.arguments, ran?.result.head, asked.seen];
  }
  const { project, session_id, trace_id, messages } = session.outline;
  return [...row.call.new, ...row.call.replies].flatMap((at) => {
    const head = messages[at];
    const parts = partsOf(project, session_id || trace_id, head?.hash ?? "");
    return parts ? parts.map(textOf) : [head?.text];
  });
}
