// What a session is, and what can be done with all of it.
import { KeyButton } from "../parts/key_button";
import { counted, dollars } from "../parts/numbers";
import { save } from "../parts/save";
import { plain } from "../parts/text";
import type { Outline } from "../types";
import { param, replaceParams, toggleParam } from "../url";
import type { Level } from "./rows";

interface Props {
  outline: Outline;
  level: Level;
  following: boolean;
}

export function Header({ outline, level, following }: Props) {
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
      <KeyButton action="waterfall" on={param("w") === "1"} act={() => toggleParam("w")} bare>
        waterfall
      </KeyButton>
      <KeyButton action="follow" on={following} act={() => toggleParam("f")} bare>
        <span aria-hidden="true" class={following && outline.running ? "busy" : "faint"}>
          ●{" "}
        </span>
        {following ? (outline.running ? "following" : "following, nothing runs") : "follow"}
      </KeyButton>
      <fieldset class="levels">
        <legend class="hidden">Level of detail</legend>
        {([1, 2, 3] as const).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={level === one}
            title={LEVELS[one]}
            onClick={() => replaceParams({ l: String(one) })}
          >
            {one}
          </button>
        ))}
      </fieldset>
    </header>
  );
}

const LEVELS = {
  1: "what users and agents said, and how turns ended",
  2: "calls and tools too, one line each",
  3: "everything: thinking, results, system prompts",
} as const;
