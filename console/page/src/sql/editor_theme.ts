// How the editor looks: the page's own colours, which its shadow tree inherits.
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--link)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--tool)" },
  { tag: tags.typeName, color: "var(--busy)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
]);

const LINE = "19px";

export const THEME = EditorView.theme({
  "&": {
    color: "var(--text)",
    background: "var(--ground)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
  "&.cm-focused": { outline: "2px solid var(--link)", outlineOffset: "-2px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "13px",
    lineHeight: LINE,
    maxHeight: `calc(20 * ${LINE})`,
    overflow: "auto",
  },
  ".cm-content": { minHeight: `calc(5 * ${LINE})`, caretColor: "var(--text)" },
  ".cm-gutters": { color: "var(--faint)", background: "none", border: "0" },
  ".cm-wrong": { textDecoration: "underline wavy var(--bad) 1.5px", textUnderlineOffset: "3px" },
  ".cm-unfit": { fontSize: "11px", color: "var(--bad)", border: "1px dashed" },
  ".cm-tooltip": {
    color: "var(--text)",
    background: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--mono)",
    fontSize: "13px",
    maxWidth: "min(560px, 90vw)",
    maxHeight: "none",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 6px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--text)",
    background: "var(--chosen)",
  },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "420px", whiteSpace: "pre-line", padding: "4px 8px" },
});
