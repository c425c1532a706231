// Why a statement was refused: the engine's words, the place in the statement, and what it may mean.
import { isTrouble } from "../api";
import { visible } from "../parts/text";
import type { Run } from "./run";

interface Props {
  run: Run;
  /** The statement as it is now: an edited one has other places. */
  text: string;
  select: (start: number, end: number) => void;
  replace: (start: number, end: number, text: string) => void;
}

const LIMITED = /\((TIMEOUT_EXCEEDED|MEMORY_LIMIT_EXCEEDED)\)/;

export function SqlError({ run, text, select, replace }: Props) {
  if (!run.error || isTrouble(run.error)) return null;
  const problem = run.asked?.sql === text ? run.problem : null;
  const before = problem ? text.slice(0, problem.start).split("\n") : [];
  return (
    <div class="problem" role="alert">
      <p class="mono">{visible(run.error.message)}</p>
      {LIMITED.test(run.error.message) && (
        <p>The page limits statements. The command at the bottom allows 300 s and all memory.</p>
      )}
      {problem && (
        <p class="actions">
          <button type="button" onClick={() => select(problem.start, problem.end)}>
            Line {before.length}, column {(before.at(-1)?.length ?? 0) + 1}
          </button>
          {problem.instead.map((name) => (
            <button
              type="button"
              key={name}
              onClick={() => replace(problem.start, problem.end, name)}
            >
              Use {visible(name)}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}
