// Find in the whole session: the server looks through all texts, also those that are not in the
// document; Enter goes to the next place and opens what is folded on the way.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys";
import { counted } from "../parts/numbers";
import type { FoundInSession } from "../types";
import { param, replaceParams } from "../url";
import { useAsk } from "../use_ask";
import type { Session } from "./rows";

const NONE: ReadonlySet<string> = new Set();

export function useFind(session: Session, open: (id: string) => void) {
  const [shown, setShown] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const text = param("q");
  const { project, session_id, trace_id } = session.outline;
  const query = text ? { project, session: session_id, trace: trace_id, text } : null;
  const asked = useAsk("GET /api/session-find", query);
  const answer = asked.stale ? null : asked.answer;
  const places = useMemo(
    () => (answer && text ? placesOf(session, answer) : []),
    [session, answer, text],
  );
  const matches = useMemo(() => (places.length ? new Set(places) : NONE), [places]);
  const here = places.indexOf(param("at"));
  useEffect(() => {
    if (shown) field.current?.select();
  }, [shown]);
  const step = (by: 1 | -1) => {
    const next = places[(here + by + places.length) % places.length];
    if (next) open(next);
  };
  const close = () => {
    setShown(false);
    replaceParams({ q: "" });
  };
  useKeys(shown || text ? { out: close } : {});
  const number = answer ? counted(places.length, "place") : "…";
  const status = asked.error ? asked.error.message : number;
  const bar = (shown || text) && (
    <search class="find">
      <input
        ref={field}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session"
        defaultValue={text}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          const wanted = event.currentTarget.value;
          if (wanted !== text) replaceParams({ q: wanted });
          else step(event.shiftKey ? -1 : 1);
        }}
      />
      <span role="status">
        {text ? (here >= 0 ? `${here + 1} of ${status}` : status) : "press Enter to find"}
      </span>
      <button type="button" onClick={close}>
        Close
      </button>
    </search>
  );
  return { bar, matches, begin: () => (shown ? field.current?.focus() : setShown(true)) };
}

/** The rows, in their order, in which something was found. */
function placesOf(session: Session, matches: FoundInSession): string[] {
  const messages = new Set(matches.messages);
  const ids = new Set([...matches.turns, ...matches.calls, ...matches.tools]);
  const { outline } = session;
  return session.rows
    .filter((row) => {
      if (ids.has(row.id)) return true;
      if (row.kind !== "call") return false;
      return [...row.call.new, ...row.call.replies].some((at) =>
        messages.has(outline.messages[at]?.hash ?? ""),
      );
    })
    .map((row) => row.id);
}
