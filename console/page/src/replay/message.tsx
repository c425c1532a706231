// One message: who said it, and every part of it as text.
import { ask } from "../api";
import { hint } from "../keys";
import { bytes, count } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import { Arguments } from "../reading/arguments";
import { Clamped } from "../reading/clamped";
import { type Form, formOf, switchForm } from "../reading/forms";
import { imagesIn, Picture } from "../reading/images";
import { LongText } from "../reading/long_text";
import { Written } from "../reading/written";
import type { Head } from "../types";
import { cutOf, type Part, partsOf, resultText, written } from "./texts";

interface Props {
  head: Head;
  project: string;
  scope: string;
  /** What is shown in one form with it: the row of a replay, the message of a call. */
  id: string;
  /** Parts that another row shows. */
  without?: readonly string[];
}

export function Message({ head, project, scope, id, without = [] }: Props) {
  const parts = head.recorded ? partsOf(project, scope, head.hash) : undefined;
  const form = formOf(id);
  const role = roleOf(head);
  return (
    <div class={`message ${role}`}>
      <div class="who">
        <span class="role">{role === "tool" ? "tool" : plain(head.role || "message")}</span>
        {parts && (
          <button
            type="button"
            class="form"
            title={hint("form")}
            aria-pressed={form === "raw"}
            onClick={() => switchForm(id)}
          >
            raw
          </button>
        )}
      </div>
      <div class="said">
        {!head.recorded && (
          <Missing
            reason={`not in the store (not recorded, pruned, or not landed yet): ${head.hash}`}
          />
        )}
        {head.recorded && !parts && <Beginning head={head} without={without} />}
        {parts?.map(
          (part, at) =>
            !without.includes(part.type ?? "") && (
              <PartView
                key={at}
                part={part}
                speaker={role}
                form={form}
                more={moreOf(project, scope, head.hash, at)}
              />
            ),
        )}
      </div>
    </div>
  );
}

type Role = "user" | "assistant" | "tool" | "system";

/** Lines that a text of each role takes before it is folded. */
const LINES: Readonly<Record<Role, number>> = { user: 40, assistant: 60, tool: 12, system: 3 };

function roleOf(head: Head): Role {
  // Anthropic's results of tools come as a user's message.
  if (head.kinds.length && head.kinds.every((kind) => kind === "tool_call_response")) return "tool";
  if (head.role === "user" || head.role === "assistant") return head.role;
  return ["tool", "function"].includes(head.role) ? "tool" : "system";
}

function Beginning({ head, without }: { head: Head; without: readonly string[] }) {
  const text = head.kinds.every((kind) => without.includes(kind)) ? "" : head.text;
  return (
    <>
      {head.thoughts && !without.includes("reasoning") && <Thoughts text={head.thoughts} />}
      {text && (
        <Clamped
          text={text}
          lines={LINES[roleOf(head)]}
          form="read"
          prose={roleOf(head) !== "tool"}
        />
      )}
    </>
  );
}

/** The text of a part of a known type. */
function textOf(part: Part): unknown {
  if (part.type === "tool_call") return part.arguments;
  return part.type === "tool_call_response" ? resultText(part.response) : (part.content ?? "");
}

/** What asks for the rest of a part; `null` where the server has sent all of it. */
export function moreOf(
  project: string,
  scope: string,
  hash: string,
  part: number,
): PartProps["more"] {
  if (!cutOf(project, scope, hash).includes(part)) return null;
  return (start, signal) =>
    ask("GET /api/message-text", { project, scope, hash, part, start }, signal).then(
      (reply) => reply.answer,
    );
}

interface PartProps {
  part: Part;
  speaker: Role;
  form: Form;
  /** Asks for what follows, where the server has cut the part. */
  more: Parameters<typeof LongText>[0]["read"] | null;
}

export function PartView({ part, speaker, form, more }: PartProps) {
  const prose = speaker !== "tool" && part.type === "text";
  const known = ["reasoning", "text", "tool_call", "tool_call_response"].includes(part.type ?? "");
  if (known && more) {
    const value = textOf(part);
    return (
      <>
        {part.type === "tool_call" && <strong class="mono">{plain(part.name ?? "")}</strong>}
        <LongText
          text={written(value)}
          size={part.original_bytes ?? 0}
          begins={typeof (part.response ?? value) === "string"}
          read={more}
          form={form}
          prose={prose}
        />
      </>
    );
  }
  const rest = part.truncated ? (
    <Missing reason={`… cut from ${bytes(part.original_bytes)}`} />
  ) : null;
  if (part.type === "reasoning") return <Thoughts text={written(part.content)} form={form} />;
  if (part.type === "tool_call") {
    return (
      <div class="asked">
        <strong class="mono">{plain(part.name ?? "")}</strong>
        <Arguments value={part.arguments} form={form} />
        {rest}
      </div>
    );
  }
  if (known) {
    return (
      <>
        <Clamped text={written(textOf(part))} lines={LINES[speaker]} form={form} prose={prose} />
        {imagesIn(part.response).map((image, at) => (
          <Picture key={at} image={image} />
        ))}
        {rest}
      </>
    );
  }
  return <Other part={part} />;
}

function Other({ part }: { part: Part }) {
  const [image] = imagesIn([part]);
  if (image) return <Picture image={image} />;
  if (part.sha256 || part.uri) {
    const what = [
      part.modality ?? part.type,
      part.mime_type,
      part.size ? bytes(part.size) : "",
      part.uri,
    ];
    return <Missing reason={`[${plain(what.filter(Boolean).join(", "))}]`} />;
  }
  return <Verbatim text={written(part)} />;
}

export function Thoughts({ text, form = "read" }: { text: string; form?: Form }) {
  if (!text.trim()) return null;
  return (
    <details class="thoughts" data-min="3">
      <summary>
        thinking, {count(text.length)} characters: <Line text={text.slice(0, 120)} />
      </summary>
      <Written text={text} form={form} prose />
    </details>
  );
}
