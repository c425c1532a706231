// What a session is, and what can be done with all of it.
import { hint } from "../keys";
import { counted, dollars } from "../parts/numbers";
import { save } from "../parts/save";
import { plain } from "../parts/text";
import type { Outline } from "../types";
import { param, setParams } from "../url";
import type { Level } from "./rows";

export function Header({
  outline,
  level,
  following,
}: {
  outline: Outline;
  level: Level;
  following: boolean;
}) {
  const roots = outline.turns.filter((turn) => !turn.parent_turn_id);
  const cost = roots.some((turn) => turn.cost_usd !== null)
    ? roots.reduce((sum, turn) => sum + (turn.cost_usd ?? 0), 0)
    : null;
  return (
    <header class="bar">
      <h1>
        <bdi>{plain(outline.session_id || outline.trace_id)}</bdi>
      </h1>
      <span class="faint">
        {counted(outline.turns.length, "turn")} · {counted(outline.calls.length, "call")} ·{" "}
        {dollars(cost)}
      </span>
      <span class="space" />
      <button
        type="button"
        onClick={() => {
          const { project, session_id: session, trace_id: trace } = outline;
          void save({ project, session, trace }, session || trace);
        }}
      >
        Save as HTML
      </button>
      <button
        type="button"
        aria-pressed={param("w") === "1"}
        title={hint("waterfall")}
        onClick={() => setParams({ w: param("w") ? "" : "1" }, { replace: true })}
      >
        waterfall
      </button>
      <button
        type="button"
        aria-pressed={following}
        title={hint("follow")}
        onClick={() => setParams({ f: following ? "" : "1" }, { replace: true })}
      >
        <span aria-hidden="true" class={following && outline.running ? "busy" : "faint"}>
          ●{" "}
        </span>
        {following ? (outline.running ? "following" : "followed: nothing runs") : "follow"}
      </button>
      <fieldset class="levels">
        <legend class="hidden">Level of detail</legend>
        {([1, 2, 3] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={level === one}
            title={LEVELS[one]}
            onClick={() => setParams({ l: String(one) }, { replace: true })}
          >
            {one}
          </button>
        ))}
      </fieldset>
    </header>
  );
}

const LEVELS = {
  1: "what the user and the agent said, and how turns ended",
  2: "with calls and tools on a line each",
  3: "everything: thinking, results, system prompts",
} as const;
