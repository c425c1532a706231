// Find in the whole session: the server looks through all texts, also those that are not in the
// document; Enter goes to the next place from the chosen row, and opens what is folded on the way.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { hint, useKeys } from "../keys";
import { Icon } from "../parts/icon";
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
  const order = useMemo(() => new Map(session.rows.map(({ id }, at) => [id, at])), [session]);
  const step = (by: 1 | -1) => {
    const placeOf = (id: string) => by * (order.get(id) ?? -1);
    const left = places.filter((id) => placeOf(id) > placeOf(param("at")));
    const next = by > 0 ? (left[0] ?? places[0]) : (left.at(-1) ?? places.at(-1));
    if (next) open(next);
  };
  const begun = useRef(false);
  useEffect(() => {
    if (!begun.current || !answer) return;
    begun.current = false;
    if (here < 0) step(1);
  });
  const close = () => {
    if (field.current) field.current.value = "";
    field.current?.blur();
    replaceParams({ q: "" });
  };
  useKeys(text ? { out: close } : {});
  useMarks(text, param("at"));
  const hit = param("hit");
  // Who comes from a search is brought to the message that it found.
  useEffect(() => {
    if (!hit || !answer) return;
    const id = placeOfHit(session, places, text, hit, param("at"));
    replaceParams({ hit: "" });
    if (id) open(id);
  }, [hit, answer, places, session, open, text]);
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
          begun.current = wanted !== text;
          if (begun.current) replaceParams({ q: wanted });
          else step(event.shiftKey ? -1 : 1);
        }}
      />
      {text && (
        <>
          <span role="status">{here >= 0 ? `${here + 1} of ${status}` : status}</span>
          <button type="button" onClick={() => step(-1)} disabled={!places.length}>
            <Icon name="arrow-up" />
            <span class="hidden">Place before</span>
          </button>
          <button type="button" onClick={() => step(1)} disabled={!places.length}>
            <Icon name="arrow-down" />
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

/** The row of a message by its hash; else, of what the turn at `at` was asked or answered. */
function placeOfHit(
  session: Session,
  places: readonly string[],
  text: string,
  hit: string,
  at: string,
): string | undefined {
  const none = { turns: [], calls: [], tools: [] };
  const [message] = placesOf(session, { ...none, messages: [hit] }, text);
  const wanted = text.toLowerCase();
  const has = (one: string | undefined) => one?.toLowerCase().includes(wanted);
  const head = session.outline.messages.find(({ hash }) => hash === hit);
  // What an answer asks a tool stands in the row of the tool.
  const tool = session.rows.find(
    (row) =>
      row.kind === "tool" && row.call?.span_id === message && has(row.request.asked.arguments),
  );
  if (message) return has(head?.text) || !tool ? message : tool.id;
  const rows = session.rows.filter(({ id }) => places.includes(id));
  const turn = at.replace(/\.end$/, "");
  const inside = rows.filter((row) => row.inside.includes(turn) && row.id !== at);
  if (at) return (at === turn ? inside[0] : inside.at(-1))?.id;
  // A system prompt is no message of the conversation.
  return session.rows.find((row) => row.kind === "call" && row.call.system_new)?.id ?? places[0];
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
