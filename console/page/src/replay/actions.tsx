// What can be done with the chosen row, as buttons: whatever a key does now has one here.
import { type Action, available, perform } from "../keys";
import { KeyButton } from "../parts/key_button";
import { param } from "../url";

const ACTIONS: readonly (readonly [Action, string])[] = [
  ["open", "Open call"],
  ["context", "Context"],
  ["changed", "What changed"],
  ["judge", "Judge turn"],
  ["select", "Select"],
  ["changedFrom", "Compare with selected"],
  ["form", "As written"],
  ["copyId", "Copy id"],
  ["copyCurl", "Copy as curl"],
  ["copyPython", "Copy as Python"],
];

/** `id` is the row's, `span` that of the call that is selected with it. */
export function Actions({ id, span }: { id: string; span: string }) {
  const now = available();
  const pressed: Partial<Record<Action, boolean>> = {
    select: param("x") === span,
    form: param("raw").split(" ").includes(id),
  };
  return (
    <p class="row-actions">
      {ACTIONS.filter(([action]) => now.includes(action)).map(([action, words]) => (
        <KeyButton
          key={action}
          action={action}
          on={pressed[action]}
          act={() => perform(action)}
          bare
        >
          {words}
        </KeyButton>
      ))}
    </p>
  );
}
