// A message for a moment, which screen readers read aloud.
import { signal } from "@preact/signals";

const message = signal("");
const SHOWN = 2500;
const OFTEN = 5_000;
let timer = 0;
let later = 0;
let last = 0;

export function announce(text: string): void {
  message.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    message.value = "";
  }, SHOWN);
}

/** The same for what comes by itself: it is read aloud, so not more than once in five seconds, and
 * of what comes meanwhile the last. */
export function announceSometimes(text: string): void {
  clearTimeout(later);
  later = setTimeout(
    () => {
      last = Date.now();
      announce(text);
    },
    Math.max(0, last + OFTEN - Date.now()),
  );
}

export function Live() {
  return (
    <span class="live" role="status">
      {message.value}
    </span>
  );
}
