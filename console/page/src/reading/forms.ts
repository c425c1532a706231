// How a recorded text is shown: to be read (Markdown as its elements, JSON in lines or as a tree), or
// as it was written. What stands as it was written is in the address, by an id of the screen's own.
import { announce } from "../frame/live";
import { param, replaceParams } from "../url";

export type Form = "read" | "raw";

function rawIds(): string[] {
  return param("raw").split(" ").filter(Boolean);
}

export function formOf(id: string): Form {
  return rawIds().includes(id) ? "raw" : "read";
}

/** Show the texts of a row as they were written, or to be read again. */
export function switchForm(id: string): void {
  const raw = formOf(id) === "read";
  const others = rawIds().filter((one) => one !== id);
  replaceParams({ raw: [...others, ...(raw ? [id] : [])].join(" ") });
  announce(raw ? "Shown as it was written" : "Shown formatted");
}

/** The object or list that a text is the JSON of; `undefined` where it is none. */
export function jsonOf(value: unknown): object | undefined {
  if (typeof value === "object" && value !== null) return value;
  if (typeof value !== "string" || !looksLikeJson(value)) return undefined;
  try {
    return JSON.parse(value) as object;
  } catch {
    return undefined;
  }
}

/** Cheap, and right for the beginning of a text too. */
export function looksLikeJson(text: string): boolean {
  return /^\s*(\{\s*["}]|\[)/.test(text);
}

// A number of more digits than a script keeps.
const LONG_NUMBER = /[[,:]\s*-?(?:[\d.]{17}|[\d.]+e[+-]?\d{3})/i;
const NAMES = /"\s*:/g;

/** The same, if it can be shown without a loss: no number is rounded, and no name stands twice. */
export function wholeJson(text: string): object | undefined {
  const value = LONG_NUMBER.test(text) ? undefined : jsonOf(text);
  const names = (json: string) => json.match(NAMES)?.length ?? 0;
  return value && names(text) === names(JSON.stringify(value)) ? value : undefined;
}

const WIDTH = 76;

/** JSON in as few lines as can be read: what fits in a line stands in one. */
export function jsonLines(value: unknown, indent = 0): string {
  const whole = JSON.stringify(value) ?? "null";
  if (typeof value !== "object" || value === null || whole.length <= WIDTH - indent) return whole;
  const inner = " ".repeat(indent + 2);
  const list = Array.isArray(value);
  const lines = Object.entries(value).map(([name, item]) => {
    const before = list ? "" : `${JSON.stringify(name)}: `;
    return `${inner}${before}${jsonLines(item, indent + 2)}`;
  });
  const [open, close] = list ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${" ".repeat(indent)}${close}`;
}

// Marks of Markdown that change how a text looks; without one it is shown as it is, at once.
const MARKS =
  /[*_~`|\\]|^ {0,3}(#{1,6} |>|[-+*] |\d{1,9}[.)] |={2,}\s*$|-{2,}\s*$)|\]\(|^ {0,3}\[.*\]:/m;

export function hasMarkdown(text: string): boolean {
  return MARKS.test(text);
}

// Of what tools give, only what is plainly Markdown: a shell's comments would be headings.
const DOCUMENT = /^```|^\|[ :|-]*-{3,}[ :|-]*\|\s*$|^#{1,6} .*\n(.*\n)*?.*\]\(\S+\)/m;

export function isDocument(text: string): boolean {
  return DOCUMENT.test(text.slice(0, 20_000));
}
