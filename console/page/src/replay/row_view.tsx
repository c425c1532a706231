// A row of a replay: how a turn begins and ends, a call with what it was given and said, a tool.
import { End, kindOfEnd } from "../parts/end";
import { Icon } from "../parts/icon";
import { bytes, count, counted, dollars, seconds, tokensUsed, When } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Failure, Line, plain, Verbatim } from "../parts/text";
import { Written } from "../reading/written";
import type { Head, OutlineCall, OutlineTurn, ToolsChange } from "../types";
import { param, to } from "../url";
import { Definition } from "./definition";
import { Message } from "./message";
import { type CallRow, hasEnded, isAnswer, lostCache, type Row, type Session } from "./rows";
import { isInCards, isWhole, ToolView } from "./tool_view";
import { useNow } from "./use_now";

interface Props {
  row: Row;
  session: Session;
  folded: boolean;
  onFold: () => void;
}

export function RowView({ row, session, folded, onFold }: Props) {
  switch (row.kind) {
    case "turn":
      return <TurnBegin turn={row.turn} number={row.number} folded={folded} onFold={onFold} />;
    case "end":
      return row.turn.status === "running" ? (
        <Running turn={row.turn} session={session} />
      ) : (
        <TurnEnd turn={row.turn} />
      );
    case "call":
      return <CallView row={row} session={session} />;
    case "tool":
      return <ToolView row={row} session={session} />;
  }
}

interface TurnProps {
  turn: OutlineTurn;
  number: number;
  folded: boolean;
  onFold: () => void;
}

function TurnBegin({ turn, number, folded, onFold }: TurnProps) {
  return (
    <h2 class="turn">
      <button type="button" class="fold" aria-expanded={!folded} onClick={onFold} tabIndex={-1}>
        <Icon name={folded ? "chevron-right" : "chevron-down"} />
        <span class="hidden">{folded ? "Unfold" : "Fold"} the turn</span>
      </button>
      {turn.parent_turn_id ? "Nested turn" : "Turn"} {number} <bdi>{plain(turn.agent_name)}</bdi>
      <End end={endOf(turn)} title={turn.ended_how} />
      <span class="faint when">
        <When time={turn.start_time} />
      </span>
    </h2>
  );
}

/** The stop reason without its detail. */
function endOf(turn: OutlineTurn): string {
  return turn.ended_how.split(":")[0] ?? "";
}

function TurnEnd({ turn }: { turn: OutlineTurn }) {
  const { icon, tone, words } = kindOfEnd(endOf(turn));
  const rounds =
    turn.max_rounds === null
      ? count(turn.rounds)
      : `${count(turn.rounds)} of ${count(turn.max_rounds)}`;
  return (
    <div class={`stop ${tone}`}>
      <Icon name={icon} /> <strong>{words}</strong>
      {words !== plain(turn.ended_how) && <code class="faint">{plain(turn.ended_how)}</code>}
      {turn.stop_detail && <Line text={turn.stop_detail} />}
      <span class="faint">
        {rounds} {turn.rounds === 1 && turn.max_rounds === null ? "round" : "rounds"} ·{" "}
        {counted(turn.tool_call_count, "tool")}
        {turn.tool_error_count > 0 && `, ${count(turn.tool_error_count)} failed`} ·{" "}
        {seconds(turn.duration)}
        {turn.cost_usd !== null && ` · ${dollars(turn.cost_usd)}`}
      </span>
    </div>
  );
}

/** A turn that has not ended: for how long, and since when nothing has come of it. */
function Running({ turn, session }: { turn: OutlineTurn; session: Session }) {
  const { calls, tools } = session.outline;
  const ends = [...calls, ...tools]
    .filter((one) => one.turn_id === turn.turn_id)
    .map(
      (one) =>
        Date.parse(one.start_time) +
        1000 * ("stored" in one && !hasEnded(one) ? one.stored : one.duration),
    );
  const begun = Date.parse(turn.start_time);
  const now = Math.max(useNow(param("f") === "1"), begun, ...ends);
  const asked = calls.some((call) => call.turn_id === turn.turn_id) ? null : turn.user_message;
  return (
    <>
      {asked?.head && (
        <div class="message user">
          <div class="who">
            <span class="role">user</span>
          </div>
          <div class="said">
            <Written text={asked.head} form="read" prose />
            {!isWhole(asked) && <Missing reason={`… ${bytes(asked.size)} in all`} />}
          </div>
        </div>
      )}
      <div class="stop busy">
        <Icon name="clock" /> <strong>running</strong>
        <span class="faint">
          {seconds((now - begun) / 1000)} · nothing new for{" "}
          {seconds((now - Math.max(begun, ...ends)) / 1000)} · {counted(ends.length, "row")} so far
        </span>
        <span class="ticking" aria-hidden="true" />
        {!calls.some((call) => call.turn_id === turn.turn_id && call.status === "running") && (
          <Missing reason="No running model call of it is stored: each is after a second, unless running_calls_after says otherwise." />
        )}
      </div>
    </>
  );
}

function CallView({ row, session }: { row: CallRow; session: Session }) {
  const { call } = row;
  const { outline } = session;
  const project = outline.project;
  const scope = outline.session_id || outline.trace_id;
  const heads = (places: readonly number[]) =>
    places.flatMap((at) => (outline.messages[at] ? [outline.messages[at]] : []));
  const message = (head: Head, without: readonly string[] = []) => (
    <Message
      key={head.hash}
      head={head}
      project={project}
      scope={scope}
      id={call.span_id}
      without={without}
    />
  );
  return (
    <div class="call">
      <Changes call={call} project={project} />
      {call.system_new && call.system && (
        <div data-min="3">
          <Definition
            project={project}
            hash={call.system}
            label="system prompt"
            head={outline.definitions.find((one) => one.hash === call.system)?.text.head}
          />
        </div>
      )}
      {heads(call.new)
        .filter((head) => !isInCards(head, call, session))
        .map((head) => (
          <div key={head.hash} data-min={isAnswer(head) || head.role !== "user" ? "3" : "1"}>
            {message(head)}
          </div>
        ))}
      <CallLine row={row} project={project} />
      {heads(call.replies)
        .filter((head) => !head.recorded || head.kinds.some((kind) => kind !== "tool_call"))
        .map((head) => message(head, ["tool_call"]))}
      {hasEnded(call)
        ? !call.replies.length && call.response.head && <Verbatim text={call.response.head} />
        : [call.thoughts, call.response.head].map(
            (text, at) =>
              text && (
                <div key={at} class="message assistant" data-min={at ? "1" : "3"}>
                  <div class="who">
                    <span class="role">{at ? "assistant" : "thinking"}</span>
                    <span class="faint"> so far</span>
                  </div>
                  <div class="said">
                    <Written text={text} form="read" prose />
                  </div>
                </div>
              ),
          )}
      <Failure of={call} />
    </div>
  );
}

/** Operations that answer in words; of others, the name says what was asked. */
const SAYING = new Set(["", "chat", "text_completion", "generate_content"]);

/** How far a call has come that has not ended. */
function SoFar({ call }: { call: OutlineCall }) {
  const running = call.status === "running";
  const begun = Date.parse(call.start_time);
  const now = Math.max(useNow(running && param("f") === "1"), begun + 1000 * call.duration);
  if (!running)
    return (
      <strong class="bad">
        never ended: its process died {seconds(call.duration)} after it began, or later
      </strong>
    );
  const took = (now - begun) / 1000;
  return (
    <span class="busy">
      <Icon name="clock" /> running for {seconds(took)}, nothing new for{" "}
      {seconds(took - call.stored)}
    </span>
  );
}

function CallLine({ row: { call, number }, project }: { row: CallRow; project: string }) {
  const facts = [
    hasEnded(call) ? seconds(call.duration) : "",
    call.input_tokens === null ? "" : tokensUsed(call.input_tokens, call.output_tokens),
    call.cache_read_tokens ? `${count(call.cache_read_tokens)} cached` : "",
    call.cost_usd === null ? "" : dollars(call.cost_usd),
    call.tries > 1 ? `${count(call.tries)} tries` : "",
  ].filter(Boolean);
  return (
    <p class="line" data-min="2">
      {hasEnded(call) ? (
        <a href={to("call", project, call.span_id)} tabIndex={-1}>
          call {number}
        </a>
      ) : (
        `call ${number}`
      )}{" "}
      {!SAYING.has(call.operation) && <b>{plain(call.operation)} </b>}
      <bdi>{plain(call.model)}</bdi>
      {call.agent_name && <bdi class="faint"> {plain(call.agent_name)}</bdi>}
      <span class="faint"> {facts.join(" · ")}</span>
      {!hasEnded(call) && <SoFar call={call} />}
    </p>
  );
}

function Changes({ call, project }: { call: OutlineCall; project: string }) {
  const notes = [
    call.rewritten &&
      `history rewritten: the first ${count(call.kept)} kept, ${count(call.dropped)} dropped, ${count(call.new.length)} new`,
    call.system_changed && "system prompt changed",
    call.tools_changed && `tools changed: ${toolChanges(call.tools_changed)}`,
    lostCache(call) &&
      `${count(call.cache_lost)} fewer tokens from the prompt cache than the call before`,
  ].filter((one): one is string => Boolean(one));
  if (!notes.length) return null;
  return (
    <p class="changed" data-min="2">
      <Icon name="diff" /> {notes.map(plain).join(" · ")}{" "}
      {hasEnded(call) && (
        <a href={to("diff", project, `${call.before}..${call.span_id}`)} tabIndex={-1}>
          what changed
        </a>
      )}
    </p>
  );
}

export function toolChanges(change: ToolsChange): string {
  const notes = [
    ...change.added.map((name) => `+${name}`),
    ...change.removed.map((name) => `−${name}`),
    ...change.changed.map((name) => `~${name}`),
  ];
  return notes.join(", ") || "in another order, or not recorded";
}
