// Find in the whole session: the server looks through all texts, also those that are not in the
// document; Enter goes to the next place and opens what is folded on the way.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { hint, useKeys } from "../keys";
import { counted } from "../parts/numbers";
import type { FoundInSession } from "../types";
import { param, replaceParams } from "../url";
import { useAsk } from "../use_ask";
import { useMarks } from "./marks";
import type { Session } from "./rows";
import { cardsOf, isInCards } from "./tool_view";

const NONE: ReadonlySet<string> = new Set();

export function useFind(session: Session, open: (id: string) => void) {
  const field = useRef<HTMLInputElement>(null);
  const text = param("q");
  const { project, session_id, trace_id } = session.outline;
  const query = text ? { project, session: session_id, trace: trace_id, text } : null;
  const asked = useAsk("GET /api/session-find", query);
  const answer = asked.stale ? null : asked.answer;
  const places = useMemo(
    () => (answer && text ? placesOf(session, answer, text) : []),
    [session, answer, text],
  );
  const matches = useMemo(() => (places.length ? new Set(places) : NONE), [places]);
  const here = places.indexOf(param("at"));
  const step = (by: 1 | -1) => {
    const next = places[(here + by + places.length) % places.length];
    if (next) open(next);
  };
  const close = () => {
    if (field.current) field.current.value = "";
    field.current?.blur();
    replaceParams({ q: "" });
  };
  useKeys(text ? { out: close } : {});
  useMarks(text, param("at"));
  // Who comes from a search is brought to the place, from the row that the search knows.
  const brought = useRef("");
  useEffect(() => {
    if (!text || brought.current === text || places.length === 0) return;
    brought.current = text;
    if (here >= 0 || document.activeElement === field.current) return;
    const ids = session.rows.map(({ id }) => id);
    const from = ids.indexOf(param("at"));
    open(places.find((id) => ids.indexOf(id) >= from) ?? places[0] ?? "");
  }, [text, places, here, session, open]);
  const number = answer ? counted(places.length, "place") : "…";
  const status = asked.error ? asked.error.message : number;
  const bar = (
    <search class="find">
      <input
        ref={field}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session"
        title={hint("find")}
        defaultValue={text}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !text) event.currentTarget.blur();
          if (event.key !== "Enter") return;
          event.preventDefault();
          const wanted = event.currentTarget.value;
          if (wanted !== text) replaceParams({ q: wanted });
          else step(event.shiftKey ? -1 : 1);
        }}
      />
      {text && (
        <>
          <span role="status">{here >= 0 ? `${here + 1} of ${status}` : status}</span>
          <button type="button" onClick={() => step(-1)} disabled={!places.length}>
            <span aria-hidden="true">↑</span>
            <span class="hidden">Place before</span>
          </button>
          <button type="button" onClick={() => step(1)} disabled={!places.length}>
            <span aria-hidden="true">↓</span>
            <span class="hidden">Next place</span>
          </button>
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </search>
  );
  return { bar, matches, begin: () => field.current?.select() };
}

/** The rows, in their order, in which something was found. */
function placesOf(session: Session, matches: FoundInSession, text: string): string[] {
  const messages = new Set(matches.messages);
  const ids = new Set([...matches.turns, ...matches.calls, ...matches.tools]);
  const { outline } = session;
  for (const row of session.rows) {
    if (row.kind !== "call") continue;
    const heads = [...row.call.new, ...row.call.replies].flatMap(
      (at) => outline.messages[at] ?? [],
    );
    for (const head of heads.filter(({ hash }) => messages.has(hash))) {
      // A tool's result stands in the card of the tool.
      const cards = isInCards(head, row.call, session)
        ? cardsOf(head, row.call, session, text)
        : [row.id];
      for (const id of cards) ids.add(id);
    }
  }
  return session.rows.filter((row) => ids.has(row.id)).map((row) => row.id);
}
