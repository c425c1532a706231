// A recorded text to be read, or as it was written. What reads Markdown and what folds JSON are
// files of their own, loaded when the first text needs them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type * as MarkdownFile from "../lazy/markdown";
import type * as TreeFile from "../lazy/tree";
import { Missing } from "../parts/states";
import { Verbatim } from "../parts/text";
import { useFile } from "../use_file";
import { type Form, hasMarkdown, isDocument, jsonLines, looksLikeJson, wholeJson } from "./forms";

interface Props {
  text: string;
  form: Form;
  /** What people and models say, set in the page's own type; else what a program wrote. */
  prose?: boolean;
}

export function Written({ text, form, prose = false }: Props) {
  const kind = useMemo(() => (form === "raw" ? "raw" : kindOf(text, prose)), [text, form, prose]);
  if (kind === "json") return <Json text={text} />;
  if (kind === "markdown") return <Markdown text={text} prose={prose} />;
  return <Plain text={text} prose={prose && form === "read"} />;
}

type Kind = "json" | "markdown" | "raw";

/** How a text, or one that begins so, is read. */
export function kindOf(text: string, prose: boolean): Kind {
  if (looksLikeJson(text)) return "json";
  return (prose ? hasMarkdown(text) : isDocument(text)) ? "markdown" : "raw";
}

function Plain({ text, prose }: { text: string; prose: boolean }) {
  return (
    <div class={prose ? "prose" : undefined}>
      <Verbatim text={text} />
    </div>
  );
}

/** More JSON than this is folded. */
const LINES = 4_000;

function Json({ text }: { text: string }) {
  const value = useMemo(() => wholeJson(text), [text]);
  if (!value) return <Verbatim text={text} />;
  return text.length > LINES ? <Tree value={value} /> : <Verbatim text={jsonLines(value)} />;
}

/** Markdown is read when it is near what is seen: a session has thousands of texts. */
function Markdown({ text, prose }: { text: string; prose: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const near = useNear(element);
  const { file, failed } = useFile<typeof MarkdownFile>(near ? "/static/markdown.js" : null);
  return (
    <div ref={element}>
      {failed && <Missing reason="as written: the Markdown reader could not be loaded" />}
      {near && file ? <file.Markdown text={text} /> : <Plain text={text} prose={prose} />}
    </div>
  );
}

const seen = new WeakMap<Element, () => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) seen.get(target)?.();
  },
  { rootMargin: "800px 0px" },
);

/** Whether an element is, or was, within a screen of what is seen. */
function useNear(element: { readonly current: Element | null }): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const target = element.current;
    if (!target || near) return;
    seen.set(target, () => setNear(true));
    observer.observe(target);
    return () => observer.unobserve(target);
  }, [element, near]);
  return near;
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
