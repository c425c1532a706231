// How a text is shown: as it was written, as Markdown, or as a tree of its JSON. Which of them stand
// otherwise than as written is in the address, by an id of the screen's own.
import { announce } from "../frame/live";
import { param, replaceParams } from "../url";

export type Form = "verbatim" | "markdown" | "tree";

const PARAMS = { markdown: "md", tree: "tree" } as const;
const NAMES = { verbatim: "as written", markdown: "Markdown", tree: "a tree of its JSON" } as const;

function shownAs(form: keyof typeof PARAMS): string[] {
  return param(PARAMS[form]).split(" ").filter(Boolean);
}

export function formOf(id: string): Form {
  if (shownAs("markdown").includes(id)) return "markdown";
  return shownAs("tree").includes(id) ? "tree" : "verbatim";
}

/** Show the next form of what has these texts: a tree where one of them is JSON, Markdown where one
 * is not. */
export function nextForm(id: string, texts: readonly unknown[]): void {
  const known = texts.filter((text) => text !== "" && text !== undefined && text !== null);
  if (!known.length) {
    announce("No text here has another form");
    return;
  }
  const forms: Form[] = ["verbatim"];
  if (!known.every(isJson)) forms.push("markdown");
  if (known.some(isJson)) forms.push("tree");
  const form = forms[(forms.indexOf(formOf(id)) + 1) % forms.length] ?? "verbatim";
  const without = (name: keyof typeof PARAMS) => shownAs(name).filter((one) => one !== id);
  replaceParams({
    md: [...without("markdown"), ...(form === "markdown" ? [id] : [])].join(" "),
    tree: [...without("tree"), ...(form === "tree" ? [id] : [])].join(" "),
  });
  announce(`Shown: ${NAMES[form]}`);
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

function isJson(value: unknown): boolean {
  return typeof value === "string" ? looksLikeJson(value) : typeof value === "object";
}
