// How the page looks, as this browser remembers it: each choice is an attribute of the document.
import { type Signal, signal } from "@preact/signals";
import { keep, recall } from "../storage";
import { announce } from "./live";

interface Choice<T extends string> {
  readonly now: Signal<T>;
  readonly next: () => void;
  readonly apply: () => void;
}

function choice<T extends string>(name: string, words: string, values: readonly [T, ...T[]]) {
  const key = `turnspan.${name}`;
  const now = signal(values.find((value) => value === recall(key)) ?? values[0]);
  const apply = () => {
    document.documentElement.dataset[name] = now.value;
  };
  const next = () => {
    now.value = values[(values.indexOf(now.value) + 1) % values.length] ?? values[0];
    keep(key, now.value);
    apply();
    announce(`${words}: ${now.value}`);
  };
  return { now, next, apply } as Choice<T>;
}

/** The system's, unless another one is chosen. */
const THEME = choice("theme", "Theme", ["system", "dark", "light"]);
export const density = choice("density", "Rows", ["comfortable", "compact"]);
export const sidebar = choice("sidebar", "Sidebar", ["open", "folded"]);

export const theme = THEME.now;
export const nextTheme = THEME.next;

export function applyTheme(): void {
  for (const { apply } of [THEME, density, sidebar]) apply();
}
