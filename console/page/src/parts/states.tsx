// What a screen shows where it has no answer, and beside an answer that is old.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type AskError, isTrouble, trouble, UNKNOWN_TOKEN } from "../api";
import { type Asked, askAgain, isAnyKnown } from "../use_ask";
import { Icon } from "./icon";
import { Verbatim, visible } from "./text";

interface Props<A> {
  asked: Asked<A>;
  /** Of a screen whose heading is part of its answer: what it is called without one. */
  heading?: string;
  /** Rows of the answer that is to come, so that nothing moves when it does. */
  rows?: number;
  children: (answer: A) => ComponentChildren;
}

/** An answer; until it is there nothing, then grey rows; or the sentence of an error. */
export function Answered<A>({ asked, heading, rows = 8, children }: Props<A>) {
  const { answer, error, stale, again } = asked;
  const shown = answer !== null;
  return (
    <>
      {heading && !shown && <h1>{heading}</h1>}
      {error && !isSaid(error) && <Problem message={error.message} stale={shown} again={again} />}
      {asked.loading && <Waiting rows={rows} />}
      {shown && (
        <div class={stale ? "stale" : undefined} aria-busy={stale && !error}>
          {children(answer)}
        </div>
      )}
    </>
  );
}

/** Grey rows, where an answer will be. */
export function Waiting({ rows }: { rows: number }) {
  return (
    <div class="waiting">
      <span class="hidden" role="status">
        Loading
      </span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} />
      ))}
    </div>
  );
}

/** Whether the frame says it, of everything at once. */
function isSaid(error: AskError): boolean {
  return trouble.value !== null && isTrouble(error);
}

const AGAIN = 5_000;
const NO_STORE = "no store";

/** Why there is nothing to ask, where the store has not been made yet; else empty. */
export function noStore(): string {
  const error = trouble.value;
  return error?.details === NO_STORE ? error.message : "";
}

/** What keeps the whole page from answers. It asks again every few seconds while it is visible. */
export function Trouble() {
  const error = trouble.value;
  const passes = error !== null && error.status !== UNKNOWN_TOKEN;
  useEffect(() => {
    if (!passes) return;
    const timer = setInterval(() => !document.hidden && askAgain(), AGAIN);
    return () => clearInterval(timer);
  }, [passes]);
  if (noStore()) return null;
  return error && <Problem message={error.message} again={askAgain} stale={isAnyKnown()} />;
}

/** Why a part of a list did not come; nothing where the frame says it. */
export function Refused({ error }: { error: AskError | null }) {
  return error && !isSaid(error) ? <Problem message={error.message} /> : null;
}

interface ProblemProps {
  message: string;
  again?: (() => void) | false;
  /** An older answer is shown. */
  stale?: boolean;
}

/** Why something could not be done, and the way to try it again. */
export function Problem({ message, again, stale }: ProblemProps) {
  return (
    <div class="problem" role="alert">
      <p>
        <span class="bad">
          <Icon name="triangle-alert" />
        </span>{" "}
        {visible(message)}
        {stale && " The page shows the last answer."}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

interface NothingProps {
  title: string;
  /** Of a screen that has no other heading. */
  heading?: boolean;
  children?: ComponentChildren;
}

/** Nothing there: what would be, and the command that makes it. */
export function Nothing({ title, heading, children }: NothingProps) {
  return (
    <div class="nothing">
      {heading ? <h1>{title}</h1> : <p>{title}</p>}
      {children}
    </div>
  );
}

/** Recorded text, or the reason why it is not there. */
export function Recorded({ text, missing }: { text: string | null; missing: string }) {
  return text ? <Verbatim text={text} /> : <Missing reason={missing} />;
}

/** Content that is not there, with the reason. */
export function Missing({ reason }: { reason: string }) {
  return <span class="missing">{reason}</span>;
}

interface ScrolledProps {
  label: string;
  look?: string;
  /** Beside what the screen is about. */
  aside?: boolean;
  onScroll?: (event: Event) => void;
  children: ComponentChildren;
}

/** What scrolls, and is reached by the keyboard for that. */
export function Scrolled({ label, look, aside, onScroll, children }: ScrolledProps) {
  const Tag = aside ? "aside" : "section";
  return (
    <Tag class={look} tabIndex={0} aria-label={label} {...(onScroll && { onScroll })}>
      {children}
    </Tag>
  );
}

interface FoldProps {
  summary: ComponentChildren;
  open?: boolean;
  look?: string | undefined;
  children: () => ComponentChildren;
}

/** What is made only when it is opened. */
export function Fold({ summary, open = false, look, children }: FoldProps) {
  const [shown, setShown] = useState(open);
  return (
    <details class={look} open={open} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {shown && children()}
    </details>
  );
}
