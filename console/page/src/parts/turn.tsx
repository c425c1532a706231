// A turn as somebody reads it: what was said, in order. At level 1 only what the user and the agent
// said, at 2 with a line for each tool call, at 3 everything.

import { Written } from "../reading/written";
import type { TurnText, Utterance } from "../types";
import { End } from "./end";
import { Icon } from "./icon";
import { bytes, count, counted, dollars, seconds, tokensUsed, When } from "./numbers";
import { Missing } from "./states";
import { Line, plain } from "./text";

const LEVELS: Readonly<Record<string, number>> = {
  user: 1,
  assistant: 1,
  turn: 1,
  error: 1,
  tool: 2,
};
const NAMES: Readonly<Record<string, string>> = {
  assistant: "agent",
  turn: "nested turn",
};
const BRIEF = 400;

export function Turn({ turn, level }: { turn: TurnText; level: number }) {
  const utterances = turn.told.filter(
    (utterance) => (LEVELS[utterance.kind] ?? 3) <= level || utterance.failed,
  );
  const hidden = turn.told.length - utterances.length;
  return (
    <article class="told-turn" aria-label={`Turn ${turn.number || turn.turn_id}`}>
      <Heading turn={turn} />
      {utterances.length === 0 && <Missing reason="No text is recorded (capture is off)." />}
      {utterances.map((utterance, at) => (
        <UtteranceView key={`${turn.turn_id} ${at}`} utterance={utterance} level={level} />
      ))}
      {hidden > 0 && (
        <p class="faint">
          {counted(hidden, "more line")} with more detail <kbd>]</kbd>
        </p>
      )}
    </article>
  );
}

function Heading({ turn }: { turn: TurnText }) {
  return (
    <header>
      <h2>
        {turn.number > 0 ? `Turn ${turn.number} of ${turn.turns}` : "Nested turn"}{" "}
        <Line text={turn.agent_name} />
      </h2>
      <End end={turn.ended_how.split(":")[0] ?? ""} title={turn.ended_how} />
      {turn.stop_detail && <Line text={turn.stop_detail} />}
      <span class="faint">
        <When time={turn.start_time} /> · {seconds(turn.duration)} · {counted(turn.rounds, "round")}{" "}
        · {counted(turn.calls, "call")} · {counted(turn.tools, "tool")}
        {turn.failed_tools > 0 && <span class="bad">, {count(turn.failed_tools)} failed</span>} ·{" "}
        {turn.input_tokens === null
          ? "tokens not reported"
          : tokensUsed(turn.input_tokens, turn.output_tokens)}
        {turn.cost_usd !== null && ` · ${dollars(turn.cost_usd)}`}
        {turn.models.length > 0 && ` · ${plain(turn.models.join(", "))}`}
      </span>
    </header>
  );
}

function UtteranceView({ utterance, level }: { utterance: Utterance; level: number }) {
  const folded = level < 3 && (utterance.kind === "tool" || utterance.kind === "result");
  return (
    <div
      class={`told ${utterance.kind}${utterance.failed ? " failed" : ""}`}
      data-depth={Math.min(utterance.depth, 4)}
    >
      <span class="who">
        {utterance.failed && <Icon name="circle-x" />} {NAMES[utterance.kind] ?? utterance.kind}{" "}
        {utterance.name && <Line text={utterance.name} />}
      </span>
      <div class="words">
        {!utterance.recorded ? (
          <Missing reason="not recorded (capture is off, or it was pruned)" />
        ) : folded ? (
          <Line text={utterance.text.slice(0, BRIEF)} />
        ) : (
          <Written
            text={utterance.text}
            form="read"
            prose={utterance.kind === "user" || utterance.kind === "assistant"}
          />
        )}
        {utterance.characters > utterance.text.length && (
          <p class="faint">
            The first {bytes(utterance.text.length)} of {bytes(utterance.characters)}. The replay
            has all of it.
          </p>
        )}
      </div>
    </div>
  );
}
