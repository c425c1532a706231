// A list that is read a page at a time: the first by the question, those that follow when asked for.
import { useEffect, useState } from "preact/hooks";
import { type Answer, type AskError, ask, type Name, type Query } from "./api";
import { type Asked, useAsk } from "./use_ask";

/** The questions whose answer says where the next page begins. */
export type Paged = { [N in Name]: Answer<N> extends { next: string } ? N : never }[Name];

export interface Pages<P> {
  readonly asked: Asked<P>;
  readonly pages: readonly P[];
  /** Ask for what follows; `null` where there is nothing. */
  readonly more: (() => void) | null;
  readonly error: AskError | null;
}

/** `cursor` is the field of the question that takes the answer's `next`. */
export function usePages<N extends Paged>(
  name: N,
  query: Query<N>,
  cursor: "after" | "until" = "after",
): Pages<Answer<N>> {
  const asked = useAsk(name, query);
  const [following, setFollowing] = useState<Answer<N>[]>([]);
  const [error, setError] = useState<AskError | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another first page begins the list anew.
  useEffect(() => setFollowing([]), [asked.answer]);
  const pages = asked.answer ? [asked.answer, ...following] : [];
  const next = asked.stale ? "" : (pages.at(-1)?.next ?? "");
  const more = () => {
    ask(name, { ...query, [cursor]: next })
      .then(({ answer }) => {
        setError(null);
        setFollowing((now) => [...now, answer]);
      })
      .catch(setError);
  };
  return { asked, pages, more: next ? more : null, error };
}
