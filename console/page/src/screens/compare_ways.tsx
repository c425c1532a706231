// What can be done with answers that are side by side, for those who do not type it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { KeyButton } from "../parts/key_button";

/** Characters of a reason or a directive. */
export const LONGEST = 2_000;
export type Mode = "" | "order" | "pick" | "score" | "directive";

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
        What answer {place} should do differently:{" "}
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

const WAYS = [
  ["order", "order"],
  ["pick", "only the best"],
  ["bothBad", "all bad"],
  ["score", "score"],
  ["directive", "do differently"],
  ["lock", "lock"],
  ["evolve", "evolve"],
  ["others", "other answers"],
  ["undo", "undo"],
] as const;

export type Acts = Readonly<Record<(typeof WAYS)[number][0], () => unknown>>;

const MODES: readonly string[] = ["order", "pick", "score", "directive"] satisfies Mode[];

export function Ways({ mode, acts }: { mode: Mode; acts: Acts }) {
  return (
    <p class="ways">
      {WAYS.map(([action, name]) => (
        <KeyButton
          key={action}
          action={action}
          act={acts[action]}
          on={MODES.includes(action) ? mode === action : undefined}
        >
          {name}
        </KeyButton>
      ))}
    </p>
  );
}
