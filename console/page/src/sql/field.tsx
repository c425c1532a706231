// The field of the statement: a plain one, until the editor is there, and where it cannot be loaded.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type * as Editors from "../lazy/editor";
import type { SqlProblem } from "../types";
import { useFile } from "../use_file";
import type { Words } from "./completions";

const LABEL = "Statement";

interface Props {
  /** What was typed, or is begun with; the screen's own changes go through `control`: an editor that
   * was given each text again would be behind who types. */
  text: string;
  words: Words;
  problem: SqlProblem | null;
  changed: (text: string) => void;
  /** What the screen does with the field. */
  control: RefObject<Editors.TextField | null>;
}

export function StatementField({ text, words, problem, changed, control }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plain = useRef<HTMLTextAreaElement>(null);
  const [editor, setEditor] = useState<Editors.Editor | null>(null);
  const now = useRef({ text, changed });
  now.current = { text, changed };

  // Without the file the plain field stays, which does all but colours and completion.
  const { file } = useFile<typeof Editors>("/static/editor.js");
  useEffect(() => {
    if (!file || !place.current) return;
    place.current.hidden = false; // now: what is hidden takes no focus
    const opened = file.open(place.current, {
      text: plain.current?.value ?? now.current.text, // with keys that are not drawn yet
      label: LABEL,
      changed: (next) => now.current.changed(next),
    });
    const typing = document.activeElement === plain.current ? plain.current : null;
    setEditor(opened);
    if (typing) opened.select(typing.selectionStart, typing.selectionEnd);
    return () => opened.remove();
  }, [file]);

  useEffect(() => editor?.setWords(words), [editor, words]);
  useEffect(() => {
    if (problem) editor?.mark(problem.start, problem.end);
  }, [editor, problem]);
  useEffect(() => {
    control.current = editor ?? (plain.current && plainField(plain.current, changed));
  });

  return (
    <>
      <div ref={place} class="editor" hidden={!editor} />
      {!editor && (
        <label class="editor">
          <span class="hidden">{LABEL}</span>
          <textarea
            ref={plain}
            rows={Math.min(16, Math.max(5, text.split("\n").length + 1))}
            spellcheck={false}
            aria-invalid={problem !== null}
            value={text}
            onInput={(event) => changed(event.currentTarget.value)}
          />
        </label>
      )}
    </>
  );
}

function plainField(
  field: HTMLTextAreaElement,
  changed: (text: string) => void,
): Editors.TextField {
  return {
    get focused() {
      return document.activeElement === field;
    },
    setText: changed,
    focus: () => field.focus(),
    leave: () => field.blur(),
    select(start, end) {
      field.focus();
      field.setSelectionRange(start, end);
    },
    replace(start, end, text) {
      field.focus();
      field.setRangeText(text, start, end, "end");
      changed(field.value);
    },
  };
}
