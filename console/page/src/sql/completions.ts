// What may stand where the cursor is: tables after FROM, the columns of the tables that are named,
// functions, keywords, and parameters after a brace.
import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { EditorView } from "@codemirror/view";
import type { ColumnOf, FunctionOf, TableOf } from "../types";
import { KEYWORDS } from "./dialect";

export interface Words {
  readonly tables: readonly TableOf[];
  readonly functions: readonly FunctionOf[];
  /** With their types: `project:String`. */
  readonly parameters: readonly string[];
}

interface Named {
  readonly table: TableOf;
  readonly alias: string;
}

const NAMED = /\b(?:from|join)\s+([\w.]+)(?:\s+final\b)?(?:\s+(?:as\s+)?(\w+))?/gi;
const WORD = /^[\w]*$/;
const KEYWORD_OPTIONS = KEYWORDS.map(
  (word): Completion => ({ label: word.toUpperCase(), type: "keyword", boost: -1 }),
);

export function completions(words: () => Words): CompletionSource {
  let known: Words | null = null;
  let functions: Completion[] = [];
  return (context) => {
    const now = words();
    if (now !== known) {
      known = now;
      functions = now.functions.map(functionOption);
    }
    return complete(context, now, functions);
  };
}

function complete(
  context: CompletionContext,
  words: Words,
  functions: readonly Completion[],
): CompletionResult | null {
  const within = syntaxTree(context.state).resolveInner(context.pos, -1).name;
  if (/String|Comment/.test(within)) return null;
  const brace = context.matchBefore(/\{\w*$/);
  if (brace) return result(brace.from, words.parameters.map(parameterOption), /^\{\w*$/);
  const member = context.matchBefore(/\w+\.\w*$/);
  const named = namedTables(context.state.doc.toString(), words.tables);
  if (member) {
    const [owner = ""] = member.text.split(".");
    const match = named.find(({ table, alias }) => alias === owner || table.name === owner);
    const from = member.from + owner.length + 1;
    return match ? result(from, match.table.columns.map(columnOption)) : null;
  }
  const word = context.matchBefore(/\w+$/);
  if (!word && !context.explicit) return null;
  const from = word?.from ?? context.pos;
  const before = context.state.sliceDoc(Math.max(0, from - 40), from);
  const tables = words.tables.map(tableOption);
  if (/\b(?:from|join)\s+$/i.test(before)) return result(from, tables);
  const columns = (named.length ? named.map(({ table }) => table) : words.tables).flatMap(
    (table) => table.columns,
  );
  const each = [...new Map(columns.map((column) => [column.name, column])).values()];
  return result(from, [...each.map(columnOption), ...tables, ...functions, ...KEYWORD_OPTIONS]);
}

function result(
  from: number,
  options: readonly Completion[],
  validFor: RegExp = WORD,
): CompletionResult {
  return { from, options, validFor };
}

/** The tables that a statement reads from, with what it calls them. */
function namedTables(text: string, tables: readonly TableOf[]): Named[] {
  return [...text.matchAll(NAMED)].flatMap(([, name = "", alias = ""]) => {
    const table = tables.find((one) => one.name === (name.split(".").at(-1) ?? ""));
    return table ? [{ table, alias }] : [];
  });
}

function tableOption({ name, about, columns }: TableOf): Completion {
  const detail = `${columns.length} columns`;
  return { label: name, type: "class", detail, boost: 1, ...(about ? { info: about } : {}) };
}

function columnOption({ name, type, comment }: ColumnOf): Completion {
  return {
    label: name,
    type: "property",
    detail: type,
    boost: 2,
    ...(comment ? { info: comment } : {}),
  };
}

function parameterOption(parameter: string): Completion {
  return { label: `{${parameter}}`, type: "variable" };
}

function functionOption({ name, syntax, about }: FunctionOf): Completion {
  const info = [syntax, about].filter(Boolean).join("\n");
  return { label: name, type: "function", apply: call, ...(info ? { info } : {}) };
}

/** The name with parentheses, and the cursor between them. */
function call(view: EditorView, { label }: Completion, from: number, to: number): void {
  const open = view.state.sliceDoc(to, to + 1) === "(";
  view.dispatch({
    changes: { from, to, insert: open ? label : `${label}()` },
    selection: { anchor: from + label.length + 1 },
    userEvent: "input.complete",
  });
}
