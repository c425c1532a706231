// The theme: the system's, unless another one is chosen.
import { signal } from "@preact/signals";
import { keep, recall } from "../storage";
import { announce } from "./live";

const KEY = "turnspan.theme";
const THEMES = ["system", "dark", "light"] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(THEMES.find((name) => name === recall(KEY)) ?? "system");

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  keep(KEY, theme.value);
  applyTheme();
  announce(`Theme: ${theme.value}`);
}
