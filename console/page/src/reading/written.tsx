// A recorded text in the form that was chosen. What reads Markdown and what folds JSON are files of
// their own, loaded when the first text is shown so.

import type * as MarkdownFile from "../lazy/markdown";
import type * as TreeFile from "../lazy/tree";
import { Missing } from "../parts/states";
import { Verbatim } from "../parts/text";
import { useFile } from "../use_file";
import { type Form, looksLikeJson } from "./forms";

interface Props {
  text: string;
  form: Form;
  /** What people said to each other is set in the page's own type. */
  prose?: boolean;
}

export function Written({ text, form, prose = false }: Props) {
  if (fits(text, form)) {
    return form === "tree" ? <Tree value={text} /> : <Markdown text={text} />;
  }
  return (
    <div class={prose ? "prose" : undefined}>
      <Verbatim text={text} />
    </div>
  );
}

/** Whether a text, or how it begins, is shown otherwise than as written: JSON as a tree, the rest
 * as Markdown. */
export function fits(text: string, form: Form): boolean {
  return form !== "verbatim" && (form === "tree") === looksLikeJson(text);
}

function Markdown({ text }: { text: string }) {
  const { file, failed } = useFile<typeof MarkdownFile>("/static/markdown.js");
  if (file) return <file.Markdown text={text} />;
  if (!failed) return <Missing reason="…" />;
  return (
    <>
      <Missing reason="as written: the Markdown reader could not be loaded" />
      <Verbatim text={text} />
    </>
  );
}

/** `value` is JSON as text, or read already. */
export function Tree({ value }: { value: string | object }) {
  const { file, failed } = useFile<typeof TreeFile>("/static/tree.js");
  if (file) return <file.Tree value={value} />;
  // Not as written meanwhile: megabytes would be laid out for a moment.
  if (!failed) return <Missing reason="…" />;
  return (
    <>
      <Missing reason="as written: the tree view could not be loaded" />
      <Verbatim text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} />
    </>
  );
}
