// The outline as rows in reading order. A row knows from which level of detail on it is shown, so
// that a level is a filter over rows that are there already.
import { kindOfEnd } from "../parts/end";
import type {
  Head,
  Outline,
  OutlineCall,
  OutlineRequest,
  OutlineTool,
  OutlineTurn,
} from "../types";

export type Level = 1 | 2 | 3;

export interface Request {
  readonly asked: OutlineRequest;
  readonly ran: OutlineTool | undefined;
}

interface Base {
  readonly id: string;
  readonly depth: number;
  readonly level: Level;
  /** The turns that it is inside of, outermost first. */
  readonly inside: readonly string[];
  readonly problem: boolean;
}

export type Row = Base &
  (
    | { readonly kind: "turn"; readonly turn: OutlineTurn; readonly number: number }
    | { readonly kind: "end"; readonly turn: OutlineTurn }
    | { readonly kind: "call"; readonly call: OutlineCall; readonly number: number }
    | {
        readonly kind: "tool";
        readonly request: Request;
        readonly call: OutlineCall | null;
        /** Which of several calls of one answer it is, from 0. */
        readonly together: { readonly at: number; readonly of: number } | null;
      }
  );

export type CallRow = Extract<Row, { kind: "call" }>;
export type ToolRow = Extract<Row, { kind: "tool" }>;

export interface Session {
  readonly outline: Outline;
  readonly rows: readonly Row[];
  readonly calls: ReadonlyMap<string, OutlineCall>;
  readonly turns: ReadonlyMap<string, OutlineTurn>;
  /** By the span of a call: the places of the messages that answer the tool calls of its reply. */
  readonly answers: ReadonlyMap<string, readonly number[]>;
}

/** Whether all of a call is there: of one that has not ended the prompt, and its text so far. */
export function hasEnded(call: OutlineCall): boolean {
  return call.status === "final";
}

export function isProblem(end: string): boolean {
  return !["completed", "running"].includes(end) && kindOfEnd(end).tone !== "good";
}

/** Providers cache a prompt from so many tokens on: fewer are no loss that anybody can mend. */
const LEAST_CACHED = 1_024;

export function lostCache(call: OutlineCall): boolean {
  return (call.cache_lost ?? 0) >= LEAST_CACHED;
}

export function sessionOf(outline: Outline): Session {
  const turns = new Map(outline.turns.map((turn) => [turn.turn_id, turn]));
  const calls = new Map(outline.calls.map((call) => [call.span_id, call]));
  const tools = new Map(outline.tools.map((tool) => [tool.span_id, tool]));
  const rows: Row[] = [];
  const open: OutlineTurn[] = [];
  let turnNumber = 0;
  let callNumber = 0;

  const close = (depth: number) => {
    while (open.length > depth) {
      const turn = open.pop();
      if (!turn) return;
      const inside = [...open.map((one) => one.turn_id), turn.turn_id];
      const problem = isProblem(turn.ended_how);
      rows.push({
        kind: "end",
        id: `${turn.turn_id}.end`,
        depth: open.length,
        level: 1,
        inside,
        problem,
        turn,
      });
    }
  };

  for (const step of outline.steps) {
    close(step.depth);
    const inside = open.map((one) => one.turn_id);
    const base = { id: step.id, depth: step.depth, inside };
    const turn = step.kind === "turn" ? turns.get(step.id) : undefined;
    const call = step.kind === "call" ? calls.get(step.id) : undefined;
    const tool = step.kind === "tool" ? tools.get(step.id) : undefined;
    if (turn) {
      turnNumber += 1;
      rows.push({ ...base, kind: "turn", level: 1, problem: false, turn, number: turnNumber });
      open.push(turn);
    } else if (call) {
      callNumber += 1;
      const problem = call.error_type !== "" || call.status === "interrupted" || lostCache(call);
      rows.push({ ...base, kind: "call", level: 1, problem, call, number: callNumber });
      const of = call.requests.length;
      for (const [at, asked] of call.requests.entries()) {
        const ran = asked.tool ? tools.get(asked.tool) : undefined;
        const id = asked.tool || `${call.span_id}.${at}`;
        const together = of > 1 ? { at, of } : null;
        rows.push(toolRow({ ...base, id }, { asked, ran }, call, together));
      }
    } else if (tool) {
      const asked = {
        call_id: tool.call_id,
        name: tool.name,
        arguments: tool.arguments.head,
        tool: tool.span_id,
        answered: false,
        seen: "",
        altered: false,
      };
      rows.push(toolRow(base, { asked, ran: tool }, null, null));
    }
  }
  close(0);
  return { outline, rows, calls, turns, answers: answersOf(outline) };
}

function answersOf(outline: Outline): Map<string, number[]> {
  const answers = new Map<string, number[]>();
  for (const call of outline.calls) {
    const places = call.new.filter((at) => isAnswer(outline.messages[at]));
    if (!call.before || !places.length) continue;
    answers.set(call.before, [...new Set([...(answers.get(call.before) ?? []), ...places])]);
  }
  return answers;
}

/** A tool's result as the model was given it: Anthropic's come as a user's message. */
export function isAnswer(head: Head | undefined): boolean {
  return Boolean(head?.kinds.length) && head?.kinds.every((kind) => kind === ANSWER) === true;
}

export const ANSWER = "tool_call_response";

function toolRow(
  base: Pick<ToolRow, "id" | "depth" | "inside">,
  request: Request,
  call: OutlineCall | null,
  together: ToolRow["together"],
): Row {
  const ran = request.ran;
  const problem = ran !== undefined && (ran.failed || (ran.times > 1 && ran.same_result));
  return { ...base, kind: "tool", level: 2, problem, request, call, together };
}

/** The rows that a level and the folded turns leave. */
export function shownRows(rows: readonly Row[], level: Level, folded: ReadonlySet<string>): Row[] {
  return rows.filter(
    (row) =>
      row.level <= level &&
      // A folded turn keeps its first row, and how it ended.
      !row.inside.some(
        (turn) => folded.has(turn) && !(row.kind === "end" && row.turn.turn_id === turn),
      ),
  );
}

/** What a session can be narrowed to. */
export type Only = "failures" | "tools";

/** Of rows those of these kinds, and the turns that they are in. */
export function onlyRows(rows: readonly Row[], only: readonly Only[]): readonly Row[] {
  if (!only.length) return rows;
  const isOfKind = (row: Row) =>
    row.kind !== "turn" &&
    (!only.includes("failures") || row.problem) &&
    (!only.includes("tools") || row.kind === "tool");
  const kept = rows.filter(isOfKind);
  const turns = new Set(kept.flatMap((row) => row.inside));
  return rows.filter((row) => isOfKind(row) || (isTurn(row) && turns.has(row.turn.turn_id)));
}

function isTurn(row: Row): row is Extract<Row, { readonly turn: OutlineTurn }> {
  return row.kind === "turn" || row.kind === "end";
}

/** The hashes of the messages that rows show, each once, in their order. */
export function hashesOf(session: Session): string[] {
  const hashes = new Set<string>();
  for (const row of session.rows) {
    if (row.kind !== "call") continue;
    for (const at of [...row.call.new, ...row.call.replies]) {
      const head = session.outline.messages[at];
      if (head?.recorded) hashes.add(head.hash);
    }
  }
  return [...hashes];
}
