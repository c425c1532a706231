// An id: shortened in the middle where it is long, whole on hover, copied by a click.
import { copy } from "./copy";
import { plain } from "./text";

const LONGEST = 18;

/** `what` it is the id of, in a word. */
export function Id({ id, what }: { id: string; what: string }) {
  const shown = plain(id);
  const short = shown.length > LONGEST ? `${shown.slice(0, 9)}…${shown.slice(-7)}` : shown;
  return (
    <button
      type="button"
      class="id"
      title={`${shown} (click to copy)`}
      onClick={() => void copy(id, `the ${what}'s id`)}
    >
      <bdi>{short}</bdi>
    </button>
  );
}
