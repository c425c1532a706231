// The editor of statements, in a file of its own that is loaded when the SQL screen is shown.
//
// It lives in a shadow tree: there its styles are sheets of the CSSOM, which the page's policy lets
// be. In the document itself they would be an inline <style>, which it refuses.
import { autocompletion, closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightSpecialChars,
  type KeyBinding,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { marked, UNFIT } from "/static/app.js";
import { completions, type Words } from "../sql/completions";
import { CLICKHOUSE } from "../sql/dialect";
import { COLORS, THEME } from "../sql/editor_theme";

/** What a screen does with a field of text, of which this is one and a `<textarea>` another. */
export interface TextField {
  readonly focused: boolean;
  setText(text: string): void;
  focus(): void;
  leave(): void;
  /** Select what is between two places, in UTF-16, and go there. */
  select(start: number, end: number): void;
  /** Put another text there, as if it were typed. */
  replace(start: number, end: number, text: string): void;
}

export interface Editor extends TextField {
  setWords(words: Words): void;
  /** Mark what is wrong, until the text changes. */
  mark(start: number, end: number): void;
  remove(): void;
}

interface Options {
  readonly text: string;
  readonly label: string;
  readonly changed: (text: string) => void;
}

const wrong = StateEffect.define<{ from: number; to: number } | null>();
const WRONG = Decoration.mark({ class: "cm-wrong" });

const wrongPart = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const change = transaction.effects.find((effect) => effect.is(wrong));
    if (change)
      return change.value ? Decoration.set(WRONG.range(change.value.from, change.value.to)) : shown;
    return transaction.docChanged ? Decoration.none : shown;
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.contentAttributes.compute([field], (state) => ({
      "aria-invalid": String(state.field(field).size > 0),
    })),
  ],
});

// Escape leaves the editor and Ctrl+Enter runs: both are the page's, as everywhere.
const KEYS = defaultKeymap.filter(({ key }) => key !== "Escape" && key !== "Mod-Enter");
/** What is run is not completed any more: the list would come over the rows, and take an Escape. */
const NOTHING_TO_COMPLETE: KeyBinding = {
  key: "Mod-Enter",
  run: (view) => {
    closeCompletion(view);
    return false;
  },
};

/** Open an editor in an element, which can have one only. */
export function open(place: HTMLElement, { text, label, changed }: Options): Editor {
  const root = place.attachShadow({ mode: "open" });
  let words: Words = { tables: [], functions: [], parameters: [] };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        highlightSpecialChars({ specialChars: UNFIT, render: special }),
        new LanguageSupport(CLICKHOUSE.language),
        syntaxHighlighting(COLORS),
        // So few that their list need not scroll: it has no focus by which that could be done.
        autocompletion({ override: [completions(() => words)], maxRenderedOptions: 12 }),
        keymap.of([NOTHING_TO_COMPLETE, ...completionKeymap, ...KEYS, ...historyKeymap]),
        EditorView.lineWrapping,
        EditorView.domEventHandlers({ beforeinput: typeOver }),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
        }),
        wrongPart,
        THEME,
      ],
    }),
  });
  const within = (at: number) => Math.min(at, view.state.doc.length);
  return {
    get focused() {
      return view.hasFocus;
    },
    setText(next) {
      if (next === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    focus: () => view.focus(),
    leave: () => view.contentDOM.blur(),
    select(start, end) {
      const selection = { anchor: within(start), head: within(end) };
      view.dispatch({ selection, scrollIntoView: true });
      view.focus();
    },
    replace(start, end, insert) {
      const changes = { from: within(start), to: within(end), insert };
      view.dispatch({ changes, selection: { anchor: changes.from + insert.length } });
      view.focus();
    },
    setWords(next) {
      words = next;
    },
    mark(start, end) {
      const to = within(end);
      // Where something is missing, what is before it is marked: a mark must have a width.
      const from = Math.min(within(start), Math.max(0, to - 1));
      view.dispatch({ effects: wrong.of(from < to ? { from, to } : null) });
    },
    remove: () => view.destroy(),
  };
}

/** A text that is typed over a selection: where a browser does that itself it joins lines with style
 * attributes, which the page's policy refuses and reports. */
function typeOver(event: InputEvent, view: EditorView): boolean {
  const typed = event.inputType === "insertText" && !event.isComposing ? event.data : null;
  if (!typed || view.state.selection.main.empty) return false;
  event.preventDefault();
  const replaced = view.state.replaceSelection(typed);
  view.dispatch(replaced, { userEvent: "input.type", scrollIntoView: true });
  return true;
}

/** As parts/text.tsx draws it. */
function special(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "cm-unfit";
  mark.textContent = marked(String.fromCodePoint(code));
  return mark;
}
