// A tool of a replay: what it was asked, what it gave, whether it was asked the same before.
import { ask } from "../api";
import { count, seconds } from "../parts/numbers";
import { Line, plain } from "../parts/text";
import { Arguments, sayMore } from "../reading/arguments";
import { type Form, formOf } from "../reading/forms";
import { LongText } from "../reading/long_text";
import { Written } from "../reading/written";
import type { OutlineTool, Text } from "../types";
import { rowAddress } from "./place";
import type { Session, ToolRow } from "./rows";
import { partsOf } from "./texts";

export function ToolView({ row, session }: { row: ToolRow; session: Session }) {
  const { asked, ran } = row.request;
  const form = formOf(row.id);
  const project = session.outline.project;
  const whole = argumentsOf(row, session);
  const long = sayMore(whole ?? asked.arguments);
  // What the model was given in full stands at its next call.
  const shown = !(asked.answered && !asked.altered && !ran?.failed);
  return (
    <div class="tool">
      <p class="line">
        <span aria-hidden="true">⚒ </span>
        <strong class="mono">{plain(asked.name)}</strong>{" "}
        <span class={`mono arguments${long ? " in-full" : ""}`}>
          <Line text={asked.arguments} />
        </span>{" "}
        {ran ? (
          <span class={ran.failed ? "bad" : "faint"}>
            {ran.failed ? "✗ failed" : "✓"} {seconds(ran.duration)}
          </span>
        ) : (
          <span class="faint">{asked.answered ? "" : "no execution recorded"}</span>
        )}
        {row.together?.at === 0 && (
          <span class="faint"> {count(row.together.of)} calls in one answer </span>
        )}
        {ran && ran.times > 1 && <Again ran={ran} session={session} />}
      </p>
      {long && (
        <div data-min="3">
          {whole !== undefined || !ran || isWhole(ran.arguments) ? (
            <Arguments value={whole ?? asked.arguments} form={form} />
          ) : (
            <Cut of={ran} field="arguments" project={project} form={form} />
          )}
        </div>
      )}
      {ran && shown && (
        <div data-min={ran.failed ? "2" : "3"} class={ran.failed ? "result bad" : "result"}>
          {ran.failed && ran.error_type && <strong>{plain(ran.error_type)} </strong>}
          {ran.failed && ran.error_message ? (
            <Written text={ran.error_message} form={form} />
          ) : (
            ran.result.head &&
            (isWhole(ran.result) ? (
              <Written text={ran.result.head} form={form} />
            ) : (
              <Cut of={ran} field="result" project={project} form={form} />
            ))
          )}
        </div>
      )}
      {asked.answered && (asked.altered || !ran) && (
        <div data-min="3" class="result">
          <span class="warn">⇒ the model saw {ran ? "something else" : ""}</span>
          <Written text={asked.seen} form={form} />
        </div>
      )}
    </div>
  );
}

/** The arguments as the model wrote them, whole; `undefined` as long as its message is not there. */
export function argumentsOf({ call, request }: ToolRow, session: Session): unknown {
  const { outline } = session;
  const scope = outline.session_id || outline.trace_id;
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

/** `↻ 3rd time, same arguments, same result`, with links to the others. */
function Again({ ran, session }: { ran: OutlineTool; session: Session }) {
  const before = session.outline.tools.find(
    (one) => one.first === ran.first && one.turn_id === ran.turn_id && one.times === ran.times - 1,
  );
  return (
    <span class="warn">
      {" "}
      ↻ {ordinal(ran.times)} time, same arguments, {ran.same_result ? "same" : "another"} result (
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

function isWhole({ head, size }: Text): boolean {
  return new TextEncoder().encode(head).length >= size;
}
