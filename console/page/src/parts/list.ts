// A cursor in a list of rows: one key for the next, one for the one before, and the focus with it.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../keys";
import { param, replaceParams } from "../url";

export interface Cursor {
  readonly at: number;
  readonly move: (by: number) => boolean;
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

/** The place of the next row in a direction that is wanted; -1 where there is none. */
export function placeAfter<R>(
  rows: readonly R[],
  at: number,
  by: 1 | -1,
  wanted: (row: R) => boolean,
): number {
  for (let place = at + by; place >= 0 && place < rows.length; place += by) {
    if (wanted(rows[place] as R)) return place;
  }
  return -1;
}

/** The row whose id stands in the address as `at`. Rows are the children of `body`, focusable. */
export function useCursor<R>(
  rows: readonly R[],
  idOf: (row: R, index: number) => string,
  isProblem?: (row: R) => boolean,
): Cursor {
  const body = useRef<HTMLTableSectionElement>(null);
  const wanted = param("at");
  const at = rows.findIndex((row, index) => idOf(row, index) === wanted);
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

  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + by));
    const row = rows[next];
    if (row === undefined) return false;
    moved.current = true;
    replaceParams({ at: idOf(row, next) });
    return true;
  };
  const jump = (by: 1 | -1) => {
    const place = isProblem ? placeAfter(rows, at, by, isProblem) : -1;
    return place >= 0 && move(place - at);
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    nextProblem: isProblem && (() => jump(1)),
    previousProblem: isProblem && (() => jump(-1)),
  });
  return { at, body, move };
}
