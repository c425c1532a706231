// The colour of a model or an agent: the same on every screen, and remembered by this browser.
import { keep, recall } from "../storage";

/** The custom properties of the categories: `--c1` to `--c8`. */
export const COLORS = 8;
/** What is everything else. */
export const OTHER = "--n7";
const KEY = "turnspan.colors";
const REMEMBERED = 200;

const known = new Map<string, number>(read());

function read(): [string, number][] {
  try {
    const names: unknown = JSON.parse(recall(KEY) ?? "[]");
    return Array.isArray(names) ? names.map((name, at) => [String(name), at % COLORS]) : [];
  } catch {
    return []; // somebody else's value
  }
}

/** A custom property. A new name gets the next colour, so that those of a chart differ. */
export function colorOf(name: string): string {
  const color = known.get(name) ?? known.size % COLORS;
  if (!known.has(name) && known.size < REMEMBERED) {
    known.set(name, color);
    keep(KEY, JSON.stringify([...known.keys()]));
  }
  return `--c${color + 1}`;
}
