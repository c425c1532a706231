// A statement that runs in the sandbox, and ends with what waits for it.
import { useEffect, useRef, useState } from "preact/hooks";
import { type AskError, ask, asRefusal } from "../api";
import type { SqlAnswer, SqlProblem, SqlQuery } from "../types";

export interface Run {
  /** What was asked last. */
  readonly asked: SqlQuery | null;
  /** The last answer, which may be of what was asked before. */
  readonly answer: SqlAnswer | null;
  readonly error: AskError | null;
  /** Where in the statement the error is. */
  readonly problem: SqlProblem | null;
  readonly running: boolean;
  readonly start: (query: SqlQuery) => void;
  /** End it in the engine too: that hears of it by the connection. `false`: nothing runs. */
  readonly cancel: () => boolean;
}

type State = Omit<Run, "start" | "cancel">;

const NOT_RUN: State = { asked: null, answer: null, error: null, problem: null, running: false };

export function useRun(): Run {
  const [state, setState] = useState<State>(NOT_RUN);
  const latest = useRef<AbortController | null>(null);
  useEffect(() => () => latest.current?.abort(), []);

  const start = (query: SqlQuery) => {
    latest.current?.abort();
    const leaving = new AbortController();
    latest.current = leaving;
    setState((now) => ({ ...now, asked: query, error: null, problem: null, running: true }));
    ask("POST /api/sql", query, leaving.signal)
      .then(({ answer }) => setState({ ...NOT_RUN, asked: query, answer }))
      .catch((caught: unknown) => {
        if (leaving.signal.aborted) return;
        const error = asRefusal(caught);
        const problem = (error.details as SqlProblem | undefined) ?? null;
        setState((now) => ({ ...now, error, problem, running: false }));
      });
  };
  const cancel = () => {
    if (!state.running) return false;
    latest.current?.abort();
    setState((now) => ({ ...now, running: false }));
    return true;
  };
  return { ...state, start, cancel };
}
