// What a screen shows where it has no answer, and beside an answer that is old.
import type { ComponentChildren } from "preact";
import type { Asked } from "../use_ask";
import { visible } from "./text";

interface Props<A> {
  asked: Asked<A>;
  /** Rows of the answer that is to come, so that nothing moves when it does. */
  rows?: number;
  children: (answer: A) => ComponentChildren;
}

/** An answer; until it is there nothing, then grey rows; or the sentence of an error. */
export function Answered<A>({ asked, rows = 8, children }: Props<A>) {
  const { answer, error, stale, again } = asked;
  return (
    <>
      {error && <Problem error={error.message} again={again} stale={answer !== null} />}
      {asked.loading && <Waiting rows={rows} />}
      {answer !== null && (
        <div class={stale ? "stale" : undefined} aria-busy={stale && !error}>
          {children(answer)}
        </div>
      )}
    </>
  );
}

function Waiting({ rows }: { rows: number }) {
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

interface ProblemProps {
  error: string;
  again: () => void;
  stale: boolean;
}

function Problem({ error, again, stale }: ProblemProps) {
  return (
    <div class="problem" role="alert">
      <p>
        <span aria-hidden="true">✗ </span>
        {visible(error)}
        {stale && " What is shown is from before."}
      </p>
      <button type="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}

/** Nothing there: what would be, and the command that makes it. */
export function Nothing({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <p>{title}</p>
      {children}
    </div>
  );
}

/** Content that is not there, with the reason. */
export function Missing({ reason }: { reason: string }) {
  return <span class="missing">{reason}</span>;
}
