// The focus stays in the page: where what has it goes, by a key, a click or what came anew, the
// screen takes it. Else it were at the beginning of the document, and the next Tab too.
export function keepFocus(screen: HTMLElement): () => void {
  let held: Element | null = null;
  const come = (event: FocusEvent) => {
    held = event.target instanceof Element ? event.target : null;
  };
  const gone = new MutationObserver(() => {
    if (!held || held.isConnected) return;
    held = null;
    if (document.activeElement === document.body) screen.focus({ preventScroll: true });
  });
  addEventListener("focusin", come);
  gone.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener("focusin", come);
    gone.disconnect();
  };
}

/** Focus the element after the current one, or before it; from elsewhere the first, or the last. */
export function stepFocus(
  elements: readonly Element[],
  by: 1 | -1,
  current: Element | null | undefined = document.activeElement,
): boolean {
  const at = elements.indexOf(current as Element);
  const next = elements[at >= 0 ? at + by : by > 0 ? 0 : elements.length - 1];
  if (!(next instanceof HTMLElement)) return false;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
