// A tool of a replay: what it was asked, what it gave, whether it was asked the same before.
import { ask } from "../api";
import { Icon } from "../parts/icon";
import { count, seconds } from "../parts/numbers";
import { Line, plain } from "../parts/text";
import { Arguments } from "../reading/arguments";
import { Clamped } from "../reading/clamped";
import { type Form, formOf } from "../reading/forms";
import { LongText } from "../reading/long_text";
import { Written } from "../reading/written";
import type { Head, OutlineCall, OutlineRequest, OutlineTool, Text } from "../types";
import { moreOf, PartView } from "./message";
import { rowAddress } from "./place";
import { ANSWER, hasEnded, isAnswer, type Session, type ToolRow } from "./rows";
import { type Part, partsOf, written } from "./texts";

export function ToolView({ row, session }: { row: ToolRow; session: Session }) {
  const { asked, ran } = row.request;
  const form = formOf(row.id);
  return (
    <div class={ran?.failed ? "tool failed" : "tool"}>
      <p class="line">
        <strong class="mono">{plain(asked.name)}</strong>{" "}
        {ran ? (
          <span class={ran.failed ? "bad" : "faint"}>
            <Icon name={ran.failed ? "circle-x" : "check"} /> {ran.failed && "failed"}{" "}
            {seconds(ran.duration)}
          </span>
        ) : (
          <span class="faint">{asked.answered ? "" : unexecuted(row.call)}</span>
        )}
        {ran && decided(ran)}
        {row.together?.at === 0 && (
          <span class="faint"> · {count(row.together.of)} calls in one answer </span>
        )}
        {ran && ran.times > 1 && <Again ran={ran} session={session} />}{" "}
        <span class="mono arguments">
          <Line text={asked.arguments} />
        </span>
      </p>
      <div data-min="3">
        <Asked row={row} session={session} form={form} />
      </div>
      {ran && <Result ran={ran} form={form} asked={asked} project={session.outline.project} />}
      {asked.answered && (asked.altered || !ran?.failed || !ran.error_message) && (
        <Answer row={row} session={session} form={form} />
      )}
    </div>
  );
}

/** Who let it run, or did not, unless a rule did. */
function decided({ decision, decided_by: by }: OutlineTool) {
  if (!decision || (decision !== "reject" && RULES.includes(by))) return null;
  const who = by.startsWith("user") ? "the user" : by;
  return (
    <span class="faint" title={by}>
      {" "}
      {plain(`${DECIDED[decision] ?? decision} by ${who}`)}
    </span>
  );
}

const RULES = ["config", "auto", "hook"];
const DECIDED: Record<string, string> = { accept: "let run", reject: "rejected" };

function unexecuted(call: OutlineCall | null): string {
  return call && !hasEnded(call) ? "as far as it came" : "no execution recorded";
}

interface PartProps {
  row: ToolRow;
  session: Session;
  form: Form;
}

function Asked({ row, session, form }: PartProps) {
  const { asked, ran } = row.request;
  const whole = argumentsOf(row, session);
  if (whole === undefined && ran && !isWhole(ran.arguments))
    return <Cut of={ran} field="arguments" project={session.outline.project} form={form} />;
  return <Arguments value={whole ?? asked.arguments} form={form} />;
}

interface ResultProps {
  ran: OutlineTool;
  asked: OutlineRequest;
  project: string;
  form: Form;
}

/** What the tool gave, or why it failed, unless the model's next call has it word for word. */
function Result({ ran, asked, project, form }: ResultProps) {
  const error = [ran.error_type, ran.error_message].filter(Boolean).join(": ");
  if (ran.failed && error) {
    return (
      <div data-min="2" class="result bad">
        <Clamped text={error} lines={12} form={form} />
      </div>
    );
  }
  if (!ran.result.head || (asked.answered && !asked.altered)) return null;
  return (
    <div data-min={ran.failed ? "2" : "3"} class="result">
      {isWhole(ran.result) ? (
        <Clamped text={ran.result.head} lines={12} form={form} />
      ) : (
        <Cut of={ran} field="result" project={project} form={form} />
      )}
    </div>
  );
}

/** What the model was given of it. */
function Answer({ row, session, form }: PartProps) {
  const { asked, ran } = row.request;
  const answer = answerOf(row, session);
  const { outline } = session;
  const known = answer ? null : asked.seen;
  if (!answer && !known) return null;
  return (
    <div data-min={ran?.failed ? "2" : "3"} class="result">
      {(asked.altered || !ran) && (
        <p class="warn">The model was given {ran ? "something else:" : "this:"}</p>
      )}
      {known && <Written text={known} form={form} />}
      {answer && (
        <PartView
          part={answer.part}
          speaker="tool"
          form={form}
          more={moreOf(outline.project, scopeOf(outline), answer.hash, answer.at)}
        />
      )}
    </div>
  );
}

function scopeOf(outline: Session["outline"]): string {
  return outline.session_id || outline.trace_id;
}

/** Whether this part answers that tool call. One without an id may be another's. */
function isAnswerTo(part: Part, call_id: string): boolean {
  return part.type === ANSWER && call_id !== "" && part.id === call_id;
}

/** The part of a message that answers a tool call, as soon as its text is there. */
function answerOf({ call, request }: ToolRow, session: Session) {
  const { outline } = session;
  for (const place of session.answers.get(call?.span_id ?? "") ?? []) {
    const hash = outline.messages[place]?.hash ?? "";
    const parts = partsOf(outline.project, scopeOf(outline), hash);
    const at = parts?.findIndex((one) => isAnswerTo(one, request.asked.call_id)) ?? -1;
    const part = parts?.[at];
    if (part) return { part, hash, at };
  }
  return undefined;
}

/** Whether the cards of the call before show all of a message: results of its tool calls. */
export function isInCards(head: Head, call: OutlineCall, session: Session): boolean {
  const { outline } = session;
  const asked = session.calls.get(call.before)?.requests.filter((one) => one.call_id) ?? [];
  if (!head.recorded || !isAnswer(head) || !asked.length) return false;
  const parts = partsOf(outline.project, scopeOf(outline), head.hash);
  return parts?.every((part) => asked.some(({ call_id }) => isAnswerTo(part, call_id))) ?? true;
}

/** The rows of the cards that show a message: those with a text in it, or before the texts are
 * there the first. */
export function cardsOf(head: Head, call: OutlineCall, session: Session, text: string): string[] {
  const rows = session.rows.filter(
    (row): row is ToolRow => row.kind === "tool" && row.call?.span_id === call.before,
  );
  const shown = rows.filter((row) => {
    const answer = answerOf(row, session);
    const said = answer?.hash === head.hash ? written(answer.part.response) : "";
    return said.toLowerCase().includes(text.toLowerCase());
  });
  return (shown.length ? shown : rows.slice(0, 1)).map((row) => row.id);
}

/** The arguments as the model wrote them, whole; `undefined` as long as its message is not there. */
export function argumentsOf({ call, request }: ToolRow, session: Session): unknown {
  const { outline } = session;
  const scope = scopeOf(outline);
  for (const at of call?.replies ?? []) {
    const parts = partsOf(outline.project, scope, outline.messages[at]?.hash ?? "");
    const part = parts?.find(
      (one) =>
        one.type === "tool_call" &&
        (one.id ?? "") === request.asked.call_id &&
        one.name === request.asked.name,
    );
    if (part) return part.arguments;
  }
  return undefined;
}

/** `3rd time, same arguments, same result`, with links to the others. */
function Again({ ran, session }: { ran: OutlineTool; session: Session }) {
  const before = session.outline.tools.find(
    (one) => one.first === ran.first && one.turn_id === ran.turn_id && one.times === ran.times - 1,
  );
  return (
    <span class="warn">
      {" "}
      <Icon name="repeat" /> {ordinal(ran.times)} time, same arguments,{" "}
      {ran.same_result ? "same" : "another"} result (
      <a href={rowAddress(session, ran.first)} tabIndex={-1}>
        first
      </a>
      {before && before.span_id !== ran.first && (
        <>
          ,{" "}
          <a href={rowAddress(session, before.span_id)} tabIndex={-1}>
            before
          </a>
        </>
      )}
      )
    </span>
  );
}

function ordinal(value: number): string {
  const last = value % 100 > 10 && value % 100 < 14 ? 0 : value % 10;
  return `${count(value)}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

interface CutProps {
  of: OutlineTool;
  field: "arguments" | "result";
  project: string;
  form: Form;
}

function Cut({ of, field, project, form }: CutProps) {
  const { head, size } = of[field];
  return (
    <LongText
      text={head}
      size={size}
      begins={true}
      read={(start, signal) =>
        ask("GET /api/tool-text", { project, span: of.span_id, field, start }, signal).then(
          (reply) => reply.answer,
        )
      }
      form={form}
    />
  );
}

export function isWhole({ head, size }: Text): boolean {
  return new TextEncoder().encode(head).length >= size;
}
