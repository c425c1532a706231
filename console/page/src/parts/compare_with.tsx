// Any two calls or turns, compared: one is chosen, wherever it is shown, and then the other. The
// first is kept for this tab.
import { signal } from "@preact/signals";
import { go, to, withParams } from "../url";
import { label } from "./text";

export interface Comparable {
  readonly kind: "call" | "turn";
  readonly project: string;
  readonly id: string;
  /** What it is called while the other is looked for. */
  readonly words: string;
}

const KEY = "turnspan.comparing";

function recalled(): Comparable | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Comparable | null;
  } catch {
    return null; // storage is switched off, or has what is none of ours
  }
}

const first = signal<Comparable | null>(recalled());

function choose(chosen: Comparable | null): void {
  first.value = chosen;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // held until the tab closes, then
  }
}

const isSame = (one: Comparable, other: Comparable) =>
  one.project === other.project && one.id === other.id;

/** Where two are compared: two calls by what they were sent, else two answers side by side. */
function placeOf(before: Comparable, after: Comparable): string {
  const alike = before.project === after.project;
  if (alike && before.kind === "call" && after.kind === "call") {
    return to("diff", after.project, `${before.id}..${after.id}`);
  }
  const project = alike ? after.project : "";
  return withParams(["compare"], { ids: `${before.id},${after.id}`, project });
}

export function CompareWith(one: Comparable) {
  const chosen = first.value;
  if (!one.id) return null;
  if (!chosen || isSame(chosen, one)) {
    const on = chosen !== null;
    return (
      <button
        type="button"
        aria-pressed={on}
        title="Choose it, then the other one anywhere"
        onClick={() => choose(on ? null : one)}
      >
        Compare with …
      </button>
    );
  }
  const compare = () => {
    choose(null);
    go(placeOf(chosen, one));
  };
  return (
    <button type="button" class="main" onClick={compare}>
      Compare with {label(chosen.words)}
    </button>
  );
}

/** Says on every screen that the other one is still to be chosen. */
export function Comparing() {
  const chosen = first.value;
  if (!chosen) return null;
  return (
    <p class="comparing" role="status">
      Comparing {label(chosen.words)}: open another turn or call and choose it.{" "}
      <button type="button" onClick={() => choose(null)}>
        Cancel
      </button>
    </p>
  );
}
