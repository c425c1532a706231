// What can be done with answers that are side by side, for those who do not type it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { hint } from "../keys";

/** Characters of a reason or a directive. */
export const LONGEST = 2_000;
export type Mode = "" | "order" | "best" | "score" | "directive";

/** What is to be done differently: said of the answer's lineage, or kept with an answer of none. */
export function Directive(props: {
  place: number;
  ofLineage: boolean;
  store: (text: string, once: boolean) => void;
}) {
  const { place, ofLineage, store } = props;
  const field = useRef<HTMLInputElement>(null);
  const once = useRef<HTMLInputElement>(null);
  // At once: what is typed before would be keys.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        store(field.current?.value.trim() ?? "", once.current?.checked ?? false);
      }}
    >
      <label>
        Answer {place}, to be done differently:{" "}
        <input ref={field} type="text" maxLength={LONGEST} placeholder="be brief" />
      </label>{" "}
      {ofLineage && (
        <label class="tick">
          <input ref={once} type="checkbox" /> in the next cycle only
        </label>
      )}{" "}
      <button type="submit">
        <kbd>Enter</kbd> store
      </button>
    </form>
  );
}

interface WaysProps {
  mode: Mode;
  begin: (what: Mode) => void;
  allBad: () => void;
  undo: () => unknown;
  score: () => void;
  direct: () => void;
  lock: () => void;
  evolve: () => void;
  others: () => void;
}

export function Ways(props: WaysProps) {
  const { mode, begin, allBad, undo, score, direct, lock, evolve, others } = props;
  return (
    <p class="ways">
      <button type="button" aria-pressed={mode === "order"} onClick={() => begin("order")}>
        <kbd>o</kbd> order
      </button>
      <button type="button" aria-pressed={mode === "best"} onClick={() => begin("best")}>
        <kbd>p</kbd> only the best
      </button>
      <button type="button" onClick={allBad}>
        <kbd>v</kbd> all bad
      </button>
      <button type="button" aria-pressed={mode === "score"} onClick={score}>
        <kbd>s</kbd> score
      </button>
      <button type="button" aria-pressed={mode === "directive"} onClick={direct}>
        <kbd>!</kbd> do differently
      </button>
      <button type="button" onClick={lock}>
        <kbd>L</kbd> lock
      </button>
      <button type="button" title={hint("evolve")} onClick={evolve}>
        <kbd>E</kbd> evolve
      </button>
      <button type="button" title={hint("others")} onClick={others}>
        <kbd>O</kbd> other answers
      </button>
      <button type="button" onClick={() => void undo()}>
        <kbd>z</kbd> undo
      </button>
    </p>
  );
}
