// The theme: the system's, unless another one is chosen.
import { signal } from "@preact/signals";
import { announce } from "./live";

const KEY = "turnspan.theme";
const THEMES = ["system", "dark", "light"] as const;
type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>(stored());

function stored(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // as long as the tab is open, then
  }
  applyTheme();
  announce(`Theme: ${theme.value}`);
}
