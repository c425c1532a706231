// One message: who said it, and every part of it as text.
import { bytes, count } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import type { Head } from "../types";
import { arrived, type Part, partsOf, resultText, written } from "./texts";

interface Props {
  head: Head;
  project: string;
  scope: string;
  /** Parts that another row shows. */
  without?: readonly string[];
}

export function Message({ head, project, scope, without = [] }: Props) {
  arrived.value; // shown again when texts have come
  const parts = head.recorded ? partsOf(project, scope, head.hash) : undefined;
  return (
    <div class={`message ${roleOf(head)}`}>
      <span class="role">{roleOf(head) === "tool" ? "tool" : plain(head.role || "message")}</span>
      <div class="said">
        {!head.recorded && (
          <Missing
            reason={`not in the store (not recorded, pruned, or not landed yet): ${head.hash}`}
          />
        )}
        {head.recorded && !parts && <Beginning head={head} without={without} />}
        {parts
          ?.filter((part) => !without.includes(part.type ?? ""))
          .map((part, at) => (
            <PartView key={at} part={part} prose={isProse(head)} />
          ))}
      </div>
    </div>
  );
}

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
      {text && (
        <div class={isProse(head) ? "prose" : undefined}>
          <Verbatim text={text} />
        </div>
      )}
    </>
  );
}

function PartView({ part, prose }: { part: Part; prose: boolean }) {
  const more = part.truncated ? (
    <Missing reason={`… cut: it has ${bytes(part.original_bytes)}`} />
  ) : null;
  if (part.type === "reasoning") return <Thoughts text={written(part.content)} />;
  if (part.type === "text") {
    return (
      <div class={prose ? "prose" : undefined}>
        <Verbatim text={written(part.content)} />
        {more}
      </div>
    );
  }
  if (part.type === "tool_call") {
    return (
      <div class="asked">
        ⚒ <span class="mono">{plain(part.name ?? "")}</span>
        <Verbatim text={written(part.arguments)} />
        {more}
      </div>
    );
  }
  if (part.type === "tool_call_response") {
    return (
      <>
        <Verbatim text={resultText(part.response)} />
        {more}
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

export function Thoughts({ text }: { text: string }) {
  if (!text.trim()) return null;
  return (
    <details class="thoughts" data-min="3">
      <summary>
        thinking, {count(text.length)} characters: <Line text={text.slice(0, 120)} />
      </summary>
      <Verbatim text={text} />
    </details>
  );
}
