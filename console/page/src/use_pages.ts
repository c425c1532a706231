// A list that is read a page at a time: the first by the question, those that follow when asked for.
import { useEffect, useState } from "preact/hooks";
import { type AskError, ask, type Query } from "./api";
import type { SessionsPage, TurnsPage } from "./types";
import { type Asked, useAsk } from "./use_ask";

interface Lists {
  "GET /api/turns": TurnsPage;
  "GET /api/sessions": SessionsPage;
}

export interface Pages<P> {
  readonly first: Asked<P>;
  readonly pages: readonly P[];
  /** Ask for what follows; `null` where there is nothing. */
  readonly more: (() => void) | null;
  readonly error: AskError | null;
}

export function usePages<N extends keyof Lists>(name: N, query: Query<N>): Pages<Lists[N]> {
  const first = useAsk(name, query) as Asked<Lists[N]>;
  const [following, setFollowing] = useState<Lists[N][]>([]);
  const [error, setError] = useState<AskError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another first page begins the list anew.
  useEffect(() => setFollowing([]), [first.answer]);
  const pages = first.answer ? [first.answer, ...following] : [];
  const next = first.stale ? "" : (pages.at(-1)?.next ?? "");
  const more = () => {
    ask(name, { ...query, after: next })
      .then(({ answer }) => {
        setError(null);
        setFollowing((now) => [...now, answer as Lists[N]]);
      })
      .catch(setError);
  };
  return { first, pages, more: next ? more : null, error };
}
