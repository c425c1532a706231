// The outline of a session: of a long one its beginning, then all of it; and the newer one while it
// is followed.
import { useEffect, useMemo, useState } from "preact/hooks";
import { beginningOf } from "../addresses";
import { ask } from "../api";
import type { Outline, OutlineAnswer, OutlineQuery } from "../types";
import { address } from "../url";
import { useAsk } from "../use_ask";

const EVERY = 1_000;
const PATIENT = 5_000;

/** Asks for newer rows each second while it follows and the page is visible. */
export function useOutline(query: OutlineQuery, following: boolean) {
  const { project, session, trace } = query;
  // What the address names may stand anywhere.
  // biome-ignore lint/correctness/useExhaustiveDependencies: where a session is opened, not each move in it.
  const begins = useMemo(() => beginningOf(address.value.params), [project, session, trace]);
  const begun = useAsk("GET /api/outline", begins && { ...query, ...begins });
  const beginning = outlineOf(begun.answer, query);
  const enough = begins && !begun.error && !beginning?.continues;
  const all = useAsk("GET /api/outline", enough ? null : query);
  const whole = outlineOf(all.answer, query);
  const asked = whole || all.error || !begins ? all : begun;
  const [newer, setNewer] = useState<Outline | null>(null);
  const first = whole ?? beginning ?? asked.answer?.outline ?? null;
  const same = newer !== null && first !== null && sameSession(newer, first);
  const outline = same && writtenAt(newer) >= writtenAt(first) ? newer : first;
  const cursor = outline?.cursor ?? "";

  useEffect(() => {
    // Without a cursor all would be asked for, while it is still on its way.
    if (!following || !cursor) return;
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

/** The outline of an answer, unless it is that of the session before. */
function outlineOf(answer: OutlineAnswer | null, query: OutlineQuery): Outline | null {
  const outline = answer?.outline ?? null;
  const { project, session = "", trace = "" } = query;
  const known = { project, session_id: session, trace_id: trace };
  return outline && sameSession(outline, known) ? outline : null;
}

type Place = Pick<Outline, "project" | "session_id" | "trace_id">;

function sameSession(one: Place, other: Place): boolean {
  return (
    one.project === other.project &&
    one.session_id === other.session_id &&
    one.trace_id === other.trace_id
  );
}
