// The text that was looked for, marked wherever it is in the document, and brought into the upper
// third of the window when its row is chosen. Marks are ranges: nothing that is shown changes.
import { useEffect } from "preact/hooks";

const NAME = "found";
const MOST = 1_000;

function rangesOf(text: string, within: Element): Range[] {
  const wanted = text.toLowerCase();
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  while (walker.nextNode() && ranges.length < MOST) {
    const node = walker.currentNode as Text;
    const lower = node.data.toLowerCase();
    if (lower.length !== node.data.length) continue; // places would not be those of the text
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

/** The first mark in the chosen row, or after it. */
function firstFrom(ranges: readonly Range[], row: Element): Range | undefined {
  return ranges.find(({ startContainer }) => {
    const place = row.compareDocumentPosition(startContainer);
    return place & (Node.DOCUMENT_POSITION_CONTAINED_BY | Node.DOCUMENT_POSITION_FOLLOWING);
  });
}

export function useMarks(text: string, at: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is brought up anew.
  useEffect(() => {
    const rows = document.querySelector(".rows");
    if (!text || !rows || !("highlights" in CSS)) return;
    let timer = 0;
    let brought = false;
    const mark = () => {
      const ranges = rangesOf(text, rows);
      CSS.highlights.set(NAME, new Highlight(...ranges));
      const row = rows.querySelector("[aria-current=true]");
      const first = row && firstFrom(ranges, row);
      if (brought || !first) return;
      brought = true;
      const { top } = first.getBoundingClientRect();
      if (top < 80 || top > innerHeight / 3) scrollBy(0, top - innerHeight / 4);
    };
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(mark, 100);
    };
    const changes = new MutationObserver(later);
    changes.observe(rows, { childList: true, subtree: true, characterData: true });
    later();
    return () => {
      clearTimeout(timer);
      changes.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [text, at]);
}
