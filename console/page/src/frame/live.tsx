// What is said to who does not see the page, and to everybody for a moment.
import { signal } from "@preact/signals";

const said = signal("");
const SHOWN = 2500;
let timer = 0;

export function announce(text: string): void {
  said.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    said.value = "";
  }, SHOWN);
}

export function Live() {
  return (
    <span class="live" role="status">
      {said.value}
    </span>
  );
}
