// A button that does what a key does: its tooltip says which.
import type { ComponentChildren } from "preact";
import { type Action, hint, KEYS, shown } from "../keys";

interface Props {
  action: Action;
  act: () => unknown;
  /** Whether it is pressed, where it can be. */
  on?: boolean | undefined;
  disabled?: boolean;
  /** Without the key before its words. */
  bare?: boolean;
  /** Its words, where they are others than the key's. */
  children?: ComponentChildren;
}

export function KeyButton({ action, act, on, disabled = false, bare = false, children }: Props) {
  return (
    <button
      type="button"
      disabled={disabled}
      aria-pressed={on}
      title={hint(action)}
      onClick={() => void act()}
    >
      {!bare && <kbd>{shown(KEYS[action][0])}</kbd>}
      {!bare && " "}
      {children ?? KEYS[action][1]}
    </button>
  );
}
