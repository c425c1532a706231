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

/** The first mark in the chosen row, or after it, that is seen: a line of a folded tool is not. */
function firstFrom(ranges: readonly Range[], row: Element): Range | undefined {
  const from = Node.DOCUMENT_POSITION_CONTAINED_BY | Node.DOCUMENT_POSITION_FOLLOWING;
  return ranges.find(
    (range) =>
      row.compareDocumentPosition(range.startContainer) & from && range.getClientRects().length,
  );
}

export function useMarks(text: string, at: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is brought up anew.
  useEffect(() => {
    const rows = document.querySelector(".rows");
    if (!text || !rows || !("highlights" in CSS)) return;
    let timer = 0;
    // Texts that come above it push it away, until somebody moves.
    let moved = false;
    const leaving = new AbortController();
    for (const name of ["wheel", "keydown", "pointerdown"])
      addEventListener(name, () => (moved = true), { passive: true, signal: leaving.signal });
    const mark = () => {
      const ranges = rangesOf(text, rows);
      CSS.highlights.set(NAME, new Highlight(...ranges));
      const row = rows.querySelector("[aria-current=true]");
      const first = row && firstFrom(ranges, row);
      if (moved || !first) return;
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
      leaving.abort();
      changes.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [text, at]);
}
