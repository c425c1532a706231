// The outline of a session, and the newer one while it is followed.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import type { Outline, OutlineQuery } from "../types";
import { useAsk } from "../use_ask";

const EVERY = 1_000;
const PATIENT = 5_000;

/** Asks for newer rows each second while it follows and the page is visible. */
export function useOutline(query: OutlineQuery, following: boolean) {
  const asked = useAsk("GET /api/outline", query);
  const [newer, setNewer] = useState<Outline | null>(null);
  const first = asked.answer?.outline ?? null;
  const same = newer !== null && first !== null && sameSession(newer, first);
  const outline = same && writtenAt(newer) >= writtenAt(first) ? newer : first;
  const cursor = outline?.cursor ?? "";
  const { project, session, trace } = query;

  useEffect(() => {
    if (!following) return;
    const leaving = new AbortController();
    let timer = 0;
    const look = async () => {
      let wait = EVERY;
      try {
        if (!document.hidden) {
          const known = { project, session: session ?? "", trace: trace ?? "", after: cursor };
          const { answer } = await ask("GET /api/outline", known, leaving.signal);
          // Of a session that is still to come there is an outline too, always the same one.
          if (answer.outline && answer.outline.cursor !== cursor) {
            setNewer(answer.outline);
            return;
          }
        }
      } catch {
        if (leaving.signal.aborted) return;
        wait = PATIENT; // the server is away, or the store is busy: the frame says so
      }
      timer = setTimeout(() => void look(), wait);
    };
    timer = setTimeout(() => void look(), EVERY);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [following, cursor, project, session, trace]);

  return { asked, outline };
}

/** When its newest row was written: nanoseconds, of which a number keeps enough. */
function writtenAt(outline: Outline): number {
  return Number(outline.cursor.split(".")[0]);
}

function sameSession(one: Outline, other: Outline): boolean {
  return (
    one.project === other.project &&
    one.session_id === other.session_id &&
    one.trace_id === other.trace_id
  );
}
