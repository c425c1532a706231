// What a session is, and how it is read. It stays while the conversation goes by.
import type { ComponentChildren } from "preact";
import { CompareWith } from "../parts/compare_with";
import { End } from "../parts/end";
import { Id } from "../parts/id";
import { KeyButton } from "../parts/key_button";
import { counted, dollars, seconds } from "../parts/numbers";
import { save } from "../parts/save";
import { Segments } from "../parts/segments";
import { Line } from "../parts/text";
import type { Outline, OutlineTurn } from "../types";
import { param, replaceParams, toggleParam } from "../url";
import { hasEnded, type Level, type Only } from "./rows";

interface Props {
  outline: Outline;
  level: Level;
  only: readonly Only[];
  following: boolean;
  children: ComponentChildren;
}

export function Header({ outline, level, only, following, children }: Props) {
  const roots = outline.turns.filter((turn) => !turn.parent_turn_id);
  const cost = roots.some((turn) => turn.cost_usd !== null)
    ? roots.reduce((sum, turn) => sum + (turn.cost_usd ?? 0), 0)
    : null;
  const id = outline.session_id || outline.trace_id;
  const title = roots.find((turn) => turn.user_message.head.trim())?.user_message.head;
  const last = outline.continues ? undefined : roots.at(-1);
  const facts = outline.continues
    ? [`the first ${counted(outline.calls.length, "call")}; the others are being read`]
    : [
        counted(outline.turns.length, "turn"),
        counted(outline.calls.filter(hasEnded).length, "call"),
        cost === null ? "cost unknown" : dollars(cost),
        outline.running || !roots.length ? "" : seconds(lasted(roots)),
        ...COUNTED.flatMap(([name, words]) =>
          outline.counted.filter(({ what }) => what === name).map(({ value }) => words(value)),
        ),
      ];
  return (
    <header class="bar stays">
      <h1>{title ? <Line text={title} /> : <Id id={id} what="session" />}</h1>
      <p class="summary">
        {last && <End end={last.ended_how.split(":")[0] ?? ""} title={last.ended_how} />}
        <span>{facts.filter(Boolean).join(" · ")}</span>
        {title && <Id id={id} what="session" />}
      </p>
      <div class="tools">
        {children}
        {ONLY.map(([kind, words, meaning]) => (
          <button
            key={kind}
            type="button"
            title={meaning}
            aria-pressed={only.includes(kind)}
            onClick={() => {
              const others = only.filter((one) => one !== kind);
              replaceParams({
                only: (only.includes(kind) ? others : [...only, kind]).join(" "),
              });
            }}
          >
            {words}
          </button>
        ))}
        <Segments
          label="Level of detail"
          choices={LEVELS}
          value={String(level) as "1" | "2" | "3"}
          choose={(one) => replaceParams({ l: one })}
        />
        <KeyButton action="waterfall" on={param("w") === "1"} act={() => toggleParam("w")} bare>
          Waterfall
        </KeyButton>
        <KeyButton action="follow" on={following} act={() => toggleParam("f")} bare>
          {following ? (outline.running ? "Following" : "Following, nothing runs") : "Follow"}
        </KeyButton>
        <CompareWith
          kind="turn"
          project={outline.project}
          id={last?.turn_id ?? ""}
          words={`the last turn of ${id}`}
        />
        <button
          type="button"
          onClick={() => {
            const { project, session_id: session, trace_id: trace } = outline;
            void save({ project, session, trace }, session || trace);
          }}
        >
          Save as HTML
        </button>
      </div>
    </header>
  );
}

/** Seconds from when the first of these turns began to when the last of them ended. */
function lasted(turns: readonly OutlineTurn[]): number {
  const begun = turns.map((turn) => Date.parse(turn.start_time) / 1000);
  const ended = turns.map((turn, at) => (begun[at] ?? 0) + turn.duration);
  return Math.max(...ended) - Math.min(...begun);
}

/** What a coding agent counted, in words. */
const COUNTED: readonly [string, (value: number) => string][] = [
  ["agent_seconds", (value) => `agent active ${seconds(value)}`],
  ["user_seconds", (value) => `user active ${seconds(value)}`],
  ["lines_added", (value) => `${counted(value, "line")} added`],
  ["lines_removed", (value) => `${counted(value, "line")} removed`],
  ["commits", (value) => counted(value, "commit")],
  ["pull_requests", (value) => counted(value, "pull request")],
  ["edits_accepted", (value) => `${counted(value, "edit")} accepted`],
  ["edits_rejected", (value) => `${counted(value, "edit")} rejected`],
];

const ONLY = [
  ["failures", "Only failures", "failed tools, errors, turns that did not complete"],
  ["tools", "Only tools", "tool calls, and the turns that they are in"],
] as const;

const LEVELS = [
  ["1", "Said", "what users and agents said, and how turns ended"],
  ["2", "Steps", "calls and tools too, one line each"],
  ["3", "All", "everything: thinking, results, system prompts"],
] as const;
