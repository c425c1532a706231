// One message: who said it, and every part of it as text.
import { ask } from "../api";
import { hint } from "../keys";
import { bytes, count } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import { Arguments } from "../reading/arguments";
import { type Form, formOf, nextForm } from "../reading/forms";
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
  const more = (part: number) => (start: number, signal: AbortSignal) =>
    ask("GET /api/message-text", { project, scope, hash: head.hash, part, start }, signal).then(
      (reply) => reply.answer,
    );
  const cut = cutOf(project, scope, head.hash);
  return (
    <div class={`message ${roleOf(head)}`}>
      <div class="who">
        <span class="role">{roleOf(head) === "tool" ? "tool" : plain(head.role || "message")}</span>
        {parts && (
          <button
            type="button"
            class="form"
            title={hint("form")}
            aria-label={`${NAMES[form]}: show another form`}
            onClick={() => nextForm(id, parts.map(textOf))}
          >
            {NAMES[form]}
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
                prose={isProse(head)}
                form={form}
                more={cut.includes(at) ? more(at) : null}
              />
            ),
        )}
      </div>
    </div>
  );
}

const NAMES: Readonly<Record<Form, string>> = {
  verbatim: "text",
  markdown: "Markdown",
  tree: "tree",
};

function roleOf(head: Head): string {
  // Anthropic's results of tools come as a user's message.
  if (head.kinds.length && head.kinds.every((kind) => kind === "tool_call_response")) return "tool";
  if (["user", "assistant", "tool"].includes(head.role)) return head.role;
  return head.role === "function" ? "tool" : "system";
}

function isProse(head: Head): boolean {
  return ["user", "assistant"].includes(roleOf(head));
}

function Beginning({ head, without }: { head: Head; without: readonly string[] }) {
  const text = head.kinds.every((kind) => without.includes(kind)) ? "" : head.text;
  return (
    <>
      {head.thoughts && !without.includes("reasoning") && <Thoughts text={head.thoughts} />}
      {text && <Written text={text} form="verbatim" prose={isProse(head)} />}
    </>
  );
}

/** The text of a part that can be shown in several forms. */
export function textOf(part: Part): unknown {
  if (part.type === "tool_call") return part.arguments;
  return part.type === "tool_call_response" ? resultText(part.response) : (part.content ?? "");
}

interface PartProps {
  part: Part;
  prose: boolean;
  form: Form;
  /** Asks for what follows, where the server has cut the part. */
  more: Parameters<typeof LongText>[0]["read"] | null;
}

function PartView({ part, prose, form, more }: PartProps) {
  const known = ["reasoning", "text", "tool_call", "tool_call_response"].includes(part.type ?? "");
  if (known && more) {
    const value = textOf(part);
    return (
      <>
        {part.type === "tool_call" && <span class="mono">⚒ {plain(part.name ?? "")}</span>}
        <LongText
          text={written(value)}
          size={part.original_bytes ?? 0}
          begins={typeof (part.response ?? value) === "string"}
          read={more}
          form={form}
          prose={prose && part.type === "text"}
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
        ⚒ <span class="mono">{plain(part.name ?? "")}</span>
        <Arguments value={part.arguments} form={form} />
        {rest}
      </div>
    );
  }
  if (known) {
    return (
      <>
        <Written text={written(textOf(part))} form={form} prose={prose && part.type === "text"} />
        {rest}
      </>
    );
  }
  return <Other part={part} />;
}

function Other({ part }: { part: Part }) {
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

export function Thoughts({ text, form = "verbatim" }: { text: string; form?: Form }) {
  if (!text.trim()) return null;
  return (
    <details class="thoughts" data-min="3">
      <summary>
        thinking, {count(text.length)} characters: <Line text={text.slice(0, 120)} />
      </summary>
      <Written text={text} form={form} />
    </details>
  );
}
