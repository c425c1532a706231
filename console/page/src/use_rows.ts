// The rows of a list while it is looked at: those that are shown change where they are, new ones
// are counted until they are asked for, so that nothing moves under who reads.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Answer, ask, type Query, trouble } from "./api";
import { askAgain } from "./use_ask";
import { type Paged, usePages } from "./use_pages";

const EVERY = 5_000;

export function useRows<N extends Paged, R>(
  name: N,
  query: Query<N>,
  rowsOf: (answer: Answer<N>) => readonly R[],
  keyOf: (row: R) => string,
) {
  const { pages, ...list } = usePages(name, query);
  const [latest, setLatest] = useState<readonly R[]>([]);
  const { answer, stale } = list.asked;
  const question = useRef({ query, rowsOf });
  question.current = { query, rowsOf };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question or answer begins anew.
  useEffect(() => {
    setLatest([]);
    const leaving = new AbortController();
    const timer = setInterval(() => {
      if (document.hidden || trouble.value) return;
      ask(name, question.current.query, leaving.signal)
        .then((reply) => setLatest(question.current.rowsOf(reply.answer)))
        .catch(() => {}); // said by the frame, and asked again
    }, EVERY);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, [name, JSON.stringify(query), answer]);
  const shown = pages.flatMap(rowsOf);
  const newest = new Map(stale ? [] : latest.map((row) => [keyOf(row), row]));
  const rows = shown.map((row) => newest.get(keyOf(row)) ?? row);
  for (const row of shown) newest.delete(keyOf(row));
  const fresh = newest.size;
  const isEmpty = answer !== null && shown.length === 0;
  useEffect(() => {
    if (isEmpty && fresh) askAgain(); // nothing is read that could move
  }, [isEmpty, fresh]);
  return { rows, fresh, ...list };
}
