// What the arguments of a tool call are: a command, edits of a file, patches; by the names that
// coding agents in use give them.
import { quoted } from "../parts/copy";
import { jsonOf } from "./forms";

export interface Edit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export interface Understood {
  readonly command: string;
  readonly edits: readonly Edit[];
  readonly patches: readonly string[];
  /** Everything else, by name. */
  readonly rest: readonly (readonly [string, unknown])[];
}

type Fields = Readonly<Record<string, unknown>>;

const COMMANDS = ["command", "cmd", "script"];
const PATHS = ["file_path", "path", "target_file", "filePath", "filename", "file"];
const PAIRS: readonly (readonly [string, string])[] = [
  ["old_string", "new_string"],
  ["old_str", "new_str"],
  ["oldString", "newString"],
  ["oldText", "newText"],
  ["old_text", "new_text"],
  ["search", "replace"],
  ["SEARCH", "REPLACE"],
];
const SHELLS = /^(.*\/)?(ba|z|da|k)?sh$/;

/** `null` where the arguments are no JSON object: a text of their own. */
export function understood(value: unknown): Understood | null {
  const fields = jsonOf(value);
  if (!fields || Array.isArray(fields)) return null;
  const left = new Map(Object.entries(fields));
  const path = PATHS.map((name) => left.get(name)).find((one) => typeof one === "string") ?? "";
  const edits = [...pairIn(Object.fromEntries(left), String(path))];
  for (const [name, list] of left) {
    if (!Array.isArray(list) || !list.length) continue;
    const pairs = list.flatMap((one: unknown) => [...pairIn(one as Fields, String(path))]);
    if (pairs.length < list.length) continue;
    edits.push(...pairs);
    left.delete(name);
  }
  if (edits.length) for (const name of PAIRS.flat()) left.delete(name);
  const patches: string[] = [];
  for (const name of COMMANDS) {
    // A patch as the word of a command: ["apply_patch", "*** Begin Patch …"].
    const words = left.get(name);
    const last: unknown = Array.isArray(words) ? words.at(-1) : "";
    if (typeof last === "string" && isPatch(last)) left.set(name, last);
  }
  for (const [name, text] of left) {
    if (typeof text !== "string" || !isPatch(text)) continue;
    const blocks = searchBlocks(text, String(path));
    if (blocks.length) edits.push(...blocks);
    else patches.push(text);
    left.delete(name);
  }
  if (edits.length) for (const name of PATHS) if (left.get(name) === path) left.delete(name);
  let command = "";
  for (const name of COMMANDS) {
    const shell = commandOf(left.get(name));
    // `command: "view"` beside a path is a file tool's verb, nothing for a shell.
    if (!shell || command || (path && /^\w+$/.test(shell))) continue;
    command = shell;
    left.delete(name);
  }
  return { command, edits, patches, rest: [...left] };
}

function* pairIn(fields: Fields | null, path: string): Generator<Edit> {
  if (typeof fields !== "object" || fields === null) return;
  for (const [old, now] of PAIRS) {
    const before = fields[old];
    const after = fields[now];
    if (typeof before !== "string" || typeof after !== "string") continue;
    const own = PATHS.map((name) => fields[name]).find((one) => typeof one === "string");
    yield { path: String(own ?? path), before, after };
    return;
  }
}

function commandOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) return "";
  const words: string[] = value;
  const script = words.at(-1) ?? "";
  // A shell with its script is that script; other words are quoted as a shell reads them.
  if (words.length === 3 && SHELLS.test(words[0] ?? "") && /^-\w*c$/.test(words[1] ?? ""))
    return script;
  return words.map(quoted).join(" ");
}

/** A unified diff, a patch of Codex, or blocks of search and replace. */
export function isPatch(text: string): boolean {
  return (
    /^\*\*\* Begin Patch/m.test(text) ||
    /^@@ .*@@/m.test(text) ||
    (/^--- /m.test(text) && /^\+\+\+ /m.test(text)) ||
    BLOCK.test(text)
  );
}

const BLOCK = /^(?:<{5,}|-{5,}) SEARCH>?\s*$/m;
const BLOCKS =
  /^(?:<{5,}|-{5,}) SEARCH>?[ \t]*\n([\s\S]*?)^={5,}[ \t]*\n([\s\S]*?)^(?:>{5,}|\+{5,}) REPLACE>?[ \t]*$/gm;

/** The blocks of search and replace in a text, as Aider and Cline write them. */
export function searchBlocks(text: string, path: string): Edit[] {
  return [...text.matchAll(BLOCKS)].map(([, before = "", after = ""]) => ({ path, before, after }));
}
