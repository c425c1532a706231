// The colours of the categories: a function of the names alone, so the same in every browser.

/** The custom properties of the categories: `--c1` to `--c8`. */
export const COLORS = 8;
/** What is everything else. */
export const OTHER = "--n7";

/** A custom property for each name, in their order. The colours of the first `COLORS` differ. */
export function colorsOf(names: readonly string[]): string[] {
  const taken = new Map<string, number>();
  // By name: what is dearer on another day changes no colour.
  for (const name of names.slice(0, COLORS).sort()) {
    const free = [...Array(COLORS).keys()].map((step) => (hashOf(name) + step) % COLORS);
    const used = new Set(taken.values());
    taken.set(name, free.find((color) => !used.has(color)) ?? 0);
  }
  return names.map((name) => `--c${(taken.get(name) ?? hashOf(name) % COLORS) + 1}`);
}

/** FNV-1a, 32 bits. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
