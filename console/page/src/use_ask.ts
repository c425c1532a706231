// A question of a screen: its answer, or why there is none. The last answer stays while the next
// one comes, and an answer that was shown before is shown at once.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  type Answer,
  type AskError,
  ask,
  asRefusal,
  type Name,
  type Query,
  type Reply,
} from "./api";
import { note } from "./frame/status";

export interface Asked<A> {
  readonly answer: A | null;
  readonly error: AskError | null;
  /** The answer is of another question, or of before an error. */
  readonly stale: boolean;
  /** Nothing to show yet, for longer than anybody waits without noticing. */
  readonly loading: boolean;
  readonly again: () => void;
}

const PATIENCE = 150;
const REMEMBERED = 40;
const remembered = new Map<string, unknown>();

function remember(key: string, answer: unknown): void {
  remembered.delete(key);
  remembered.set(key, answer);
  const oldest = remembered.keys().next();
  if (remembered.size > REMEMBERED && !oldest.done) remembered.delete(oldest.value);
}

const rounds = signal(0);

/** Ask everything that is shown once more. */
export function askAgain(): void {
  rounds.value += 1;
}

/** Whether anything was answered since the page was opened. */
export function isAnyKnown(): boolean {
  return remembered.size > 0;
}

interface Sent<N extends Name> {
  readonly reply: Promise<Reply<N>>;
  readonly leaving: AbortController;
  askers: number;
}

/** The questions of this moment, by their text. */
const sent = new Map<string, Sent<Name>>();

/** Ask; what asks the same in the same moment shares the answer. It is given up when all leave. */
function together<N extends Name>(
  name: N,
  query: Query<N>,
  key: string,
  leaving: AbortSignal,
): Promise<Reply<N>> {
  let one = sent.get(key) as Sent<N> | undefined;
  if (!one) {
    const all = new AbortController();
    one = { reply: ask(name, query, all.signal), leaving: all, askers: 0 };
    sent.set(key, one);
    setTimeout(() => sent.delete(key));
  }
  const shared = one;
  shared.askers += 1;
  leaving.addEventListener("abort", () => {
    shared.askers -= 1;
    if (!shared.askers) {
      sent.delete(key);
      shared.leaving.abort();
    }
  });
  return shared.reply;
}

interface State<A> {
  key: string;
  answer: A | null;
  error: AskError | null;
  slow: boolean;
}

/** Ask whenever the question changes, and while the page is visible once more `every` so many
 * seconds, whose cost is then not noted; `null` asks nothing. A question that changes with each key
 * is asked at the first one and after the last: the store answers one at a time. */
export function useAsk<N extends Name>(
  name: N,
  query: Query<N> | null,
  every = 0,
): Asked<Answer<N>> {
  const key = query === null ? "" : `${name} ${JSON.stringify(query)}`;
  const [round, setRound] = useState(0);
  const [state, setState] = useState<State<Answer<N>>>(() => known(key));
  const question = useRef(query);
  question.current = query;
  const changed = useRef(Number.NEGATIVE_INFINITY);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the question as text, and another round asks it again.
  useLayoutEffect(() => {
    const asked = question.current;
    if (asked === null) return;
    const leaving = new AbortController();
    const slow = setTimeout(() => setState((now) => ({ ...now, slow: true })), PATIENCE);
    if (remembered.has(key)) setState(known(key));
    const start = () =>
      together(name, asked, key, leaving.signal)
        .then((reply) => {
          if (leaving.signal.aborted) return;
          remember(key, reply.answer);
          if (!every) note(reply.took);
          setState({ key, answer: reply.answer, error: null, slow: false });
        })
        .catch((error: unknown) => {
          if (leaving.signal.aborted) return;
          setState((now) => ({ ...now, error: asRefusal(error), slow: false }));
        })
        .finally(() => clearTimeout(slow));
    const hasty = performance.now() - changed.current < PATIENCE;
    changed.current = performance.now();
    const pause = hasty && setTimeout(start, PATIENCE);
    if (!hasty) start();
    return () => {
      if (pause) clearTimeout(pause);
      clearTimeout(slow);
      leaving.abort();
    };
  }, [name, key, round, rounds.value]);

  useEffect(() => {
    if (!every) return;
    const again = () => document.hidden || setRound((now) => now + 1);
    const timer = setInterval(again, every * 1000);
    return () => clearInterval(timer);
  }, [every]);

  return {
    answer: state.answer,
    error: state.error,
    stale: state.answer !== null && (state.key !== key || state.error !== null),
    loading: state.answer === null && state.error === null && state.slow,
    again: () => setRound((now) => now + 1),
  };
}

function known<A>(key: string): State<A> {
  const answer = (remembered.get(key) as A | undefined) ?? null;
  return { key, answer, error: null, slow: false };
}
