// Recorded text, shown as text: what steers a terminal, turns the direction of writing or is not
// seen at all is drawn as a mark, so that nothing hides from its reader.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Icon } from "./icon";

const JOINED = "\\u0600-\\u1cff\\ua800-\\uabff\\u2190-\\u2bff\\ufe0f\\u{1f000}-\\u{1faff}"; // scripts and pictures that are written with joiners
const STEERS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff";
const HIDES =
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}";

/** What is unfit to be seen, as turnspan_console.control_characters has it; a test holds that they agree. */
export const UNFIT = new RegExp(
  `[${STEERS}${HIDES}]` +
    `|(?<![${JOINED}])[\\u200c\\u200d]|[\\u200c\\u200d](?![${JOINED}])` +
    "|(?<=[\\ufe00-\\ufe0f])[\\ufe00-\\ufe0f]",
  "gu",
);

const NAMES: Readonly<Record<string, string>> = {
  "\u0000": "NUL",
  "\u0007": "BEL",
  "\b": "BS",
  "\r": "CR",
  "\u001b": "ESC",
  "\u007f": "DEL",
};

export function marked(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return NAMES[character] ?? `U+${code}`;
}

/** The text with marks, for a place that takes no elements (a title, a label). */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNFIT, (one) => `<${marked(one)}>`);
}

/** A recorded name for a link or a button, which must have something to be seen. */
export function label(text: string): string {
  return text.trim() ? plain(text) : `“${plain(text)}”`;
}

/** The pieces of a text, with a mark for every character that is unfit. */
export function visible(text: string): ComponentChildren {
  const whole = text.replaceAll("\r\n", "\n");
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const match of whole.matchAll(UNFIT)) {
    if (match.index > at) pieces.push(whole.slice(at, match.index));
    pieces.push(<span class="unfit">{marked(match[0])}</span>);
    at = match.index + match[0].length;
  }
  if (pieces.length === 0) return whole;
  pieces.push(whole.slice(at));
  return pieces;
}

/** Recorded text within a line; of several lines one. */
export function Line({ text }: { text: string }) {
  // Not \s: that takes characters for blanks that hide, such as U+FEFF.
  const joined = text.replaceAll("\r\n", "\n").replace(/[ \t\n]+/g, " ");
  return <bdi class="recorded">{visible(joined)}</bdi>;
}

/** Recorded text that is opened when it is wanted. */
export function Folded({ title, text, open }: { title: string; text: string; open?: boolean }) {
  return text ? (
    <details open={open ?? false}>
      <summary>{title}</summary>
      <Verbatim text={text} />
    </details>
  ) : null;
}

interface FailureProps {
  of: { readonly error_type: string; readonly error_message?: string };
}

/** The error with which something ended, where it did. */
export function Failure({ of: { error_type, error_message = "" } }: FailureProps) {
  return error_type ? (
    <p class="bad">
      <Icon name="circle-x" />{" "}
      <Line text={[error_type, error_message].filter(Boolean).join(": ")} />
    </p>
  ) : null;
}

/** From so many characters or lines on a text may be higher than the box that it scrolls in. */
const HIGH = 1_000;
const LINES = /(?:\n[^\n]*){15}/;

/** Recorded text as it was written, wrapped and never cut. */
export function Verbatim({ text }: { text: string }) {
  const pieces = useMemo(() => visible(text), [text]); // of megabytes, at each step of the cursor
  const scrolls = text.length > HIGH || LINES.test(text);
  return (
    // What scrolls is reached by keys too.
    <div class="verbatim" dir="auto" tabIndex={scrolls ? 0 : undefined}>
      {pieces}
    </div>
  );
}
