// A cursor in a list of rows: one key for the next, one for the one before, and the focus with it.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { param, setParams } from "../url";

interface Cursor {
  readonly at: number;
  readonly move: (by: number) => boolean;
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

/** The row whose id stands in the address as `at`. Rows are the children of `body`, focusable. */
export function useCursor(ids: readonly string[]): Cursor {
  const body = useRef<HTMLTableSectionElement>(null);
  const at = ids.indexOf(param("at"));
  const moved = useRef(false);
  const shown = useRef(false);

  useLayoutEffect(() => {
    const row = body.current?.children[at];
    if (row instanceof HTMLElement) {
      if (moved.current) row.focus();
      // The first time, the address has brought us here.
      if (moved.current || !shown.current) row.scrollIntoView({ block: "nearest" });
      shown.current = true;
    }
    moved.current = false;
  }, [at]);

  return {
    at,
    body,
    move: (by) => {
      const next = Math.max(0, Math.min(ids.length - 1, at + by));
      const id = ids[next];
      if (id === undefined) return false;
      moved.current = true;
      setParams({ at: id }, { replace: true });
      return true;
    },
  };
}
