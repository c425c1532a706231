// What is known of the row that is chosen, beside the conversation.
import type { ComponentChildren } from "preact";
import { CompareWith } from "../parts/compare_with";
import { Cost } from "../parts/cost";
import { End } from "../parts/end";
import { TERMS } from "../parts/glossary";
import { Icon } from "../parts/icon";
import { Id } from "../parts/id";
import { count, counted, dollars, estimated, seconds } from "../parts/numbers";
import { Segments } from "../parts/segments";
import { Shares } from "../parts/share";
import { Answered, Missing, Scrolled } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import { jsonLines } from "../reading/forms";
import { Judgments } from "../screens/review_known";
import type { OutlineCall, OutlineTurn } from "../types";
import { param, replaceParams, withParams } from "../url";
import { useAsk } from "../use_ask";
import { rowAddress } from "./place";
import { type CallRow, hasEnded, type Row, type Session } from "./rows";

/** Beside the facts, which are what is shown first. */
const TABS = [
  ["", "Facts"],
  ["cost", "Cost"],
  ["judgments", "Judgments"],
  ["json", "JSON"],
] as const;

export function Inspector({ row, session }: { row: Row | undefined; session: Session }) {
  const tab = TABS.find(([key]) => key === param("i"))?.[0] ?? "";
  return (
    <Scrolled aside look={row ? "inspector" : "inspector idle"} label="The chosen row">
      <div class="tabs">
        <Segments
          label="What is shown of it"
          choices={TABS}
          value={tab}
          choose={(key) => replaceParams({ i: key })}
        />
        <button type="button" class="quiet" onClick={() => replaceParams({ i: "off" })}>
          <Icon name="x" />
          <span class="hidden">Close the details</span>
        </button>
      </div>
      {!row && <p class="faint">Choose a row to see what is known of it.</p>}
      {row && tab === "" && <Chosen row={row} session={session} />}
      {row && tab === "cost" && <RowCost row={row} session={session} />}
      {row && tab === "judgments" && <RowJudgments row={row} session={session} />}
      {row && tab === "json" && <Verbatim text={jsonLines(recordOf(row))} />}
    </Scrolled>
  );
}

/** What the server said of a row. */
function recordOf(row: Row): unknown {
  if (row.kind === "call") return row.call;
  return row.kind === "tool" ? row.request : row.turn;
}

function RowCost({ row, session }: { row: Row; session: Session }) {
  if (row.kind === "call" && !hasEnded(row.call))
    return <Missing reason="The cost is known when the call ends." />;
  if (row.kind === "call") return <CallCost call={row.call} project={session.outline.project} />;
  const turn = row.kind === "tool" ? session.turns.get(row.inside.at(-1) ?? "") : row.turn;
  if (!turn) return <Missing reason="No turn of it is recorded." />;
  return <TurnCost turn={turn} session={session} />;
}

function CallCost({ call, project }: { call: OutlineCall; project: string }) {
  const asked = useAsk("GET /api/call", { project, span: call.span_id });
  return (
    <Answered asked={asked} rows={3}>
      {({ cost }) => <Cost cost={cost} />}
    </Answered>
  );
}

/** Each call of a turn as a share of its cost. */
function TurnCost({ turn, session }: { turn: OutlineTurn; session: Session }) {
  const calls = session.rows.filter(
    (row): row is CallRow => row.kind === "call" && row.call.turn_id === turn.turn_id,
  );
  const priced = calls.filter(({ call }) => call.cost_usd !== null);
  return (
    <>
      <h2>Cost of the turn</h2>
      <p>
        {turn.cost_usd === null ? "not known" : dollars(turn.cost_usd)}
        {priced.length < calls.length &&
          ` · ${counted(calls.length - priced.length, "call")} without a price`}
      </p>
      {priced.length > 0 && (
        <Shares
          label={`Cost ${dollars(turn.cost_usd)} by call`}
          whole={0}
          shares={priced.map(({ call, number }) => ({
            name: `call ${number}`,
            size: call.cost_usd ?? 0,
            words: dollars(call.cost_usd),
          }))}
        />
      )}
    </>
  );
}

function RowJudgments({ row, session }: { row: Row; session: Session }) {
  const turn = row.inside[0] ?? (row.kind === "turn" ? row.turn.turn_id : "");
  const { project } = session.outline;
  const asked = useAsk("GET /api/review/turn", turn ? { project, turn } : null);
  if (!turn) return <Missing reason="It belongs to no turn." />;
  return (
    <Answered asked={asked} rows={3}>
      {(item) => (
        <>
          <Judgments item={item} />
          <p>
            <a href={withParams(["review"], { of: project, at: turn })}>Judge this turn</a>
          </p>
        </>
      )}
    </Answered>
  );
}

function Chosen({ row, session }: { row: Row; session: Session }) {
  if (row.kind === "turn" || row.kind === "end") {
    return <TurnFacts turn={row.turn} session={session} />;
  }
  if (row.kind === "call") return <CallFacts row={row} project={session.outline.project} />;
  const { asked, ran } = row.request;
  return (
    <>
      <h2>{plain(asked.name)}</h2>
      {!ran && <Missing reason="No execution of it is recorded." />}
      <Facts>
        {ran && (
          <>
            <Fact name="result">
              <Icon name={ran.failed ? "circle-x" : "circle-check"} />{" "}
              {ran.failed ? "failed" : "succeeded"}
            </Fact>
            <Fact name="duration">{seconds(ran.duration)}</Fact>
            <Fact name="round">{ran.round > 0 && count(ran.round)}</Fact>
            <Fact name="same arguments">{ran.times > 1 && `${count(ran.times)} times`}</Fact>
          </>
        )}
        <Fact name="call id">{asked.call_id && <Id id={asked.call_id} what="tool call" />}</Fact>
        <Fact name="span">{ran?.span_id && <Id id={ran.span_id} what="span" />}</Fact>
      </Facts>
    </>
  );
}

/** What is known of a call when it ends. */
function EndFacts({ call }: { call: OutlineCall }) {
  return (
    <>
      <Fact name="first token">
        {call.time_to_first_chunk === null ? "not streamed" : seconds(call.time_to_first_chunk)}
      </Fact>
      <TokenFacts call={call} />
      <Fact name="cost">{call.cost_usd === null ? "not known" : dollars(call.cost_usd)}</Fact>
      <Fact name="finish reason">{plain(call.finish_reasons.join(", ")) || "not reported"}</Fact>
      <Fact name="tries">{call.tries > 1 && count(call.tries)}</Fact>
    </>
  );
}

function CallFacts({ row: { call, number }, project }: { row: CallRow; project: string }) {
  return (
    <>
      <h2>Call {number}</h2>
      <Facts>
        <Fact name="model">{plain(call.model)}</Fact>
        <Fact name="operation">{plain(call.operation)}</Fact>
        <Fact name="duration">
          {hasEnded(call)
            ? seconds(call.duration)
            : call.status === "running"
              ? "still running"
              : "never ended"}
        </Fact>
        {hasEnded(call) && <EndFacts call={call} />}
        <Fact name="round">{call.round > 0 && count(call.round)}</Fact>
        <Fact name="messages">{count(call.messages)}</Fact>
        <Fact name="span">
          <Id id={call.span_id} what="span" />
        </Fact>
      </Facts>
      {hasEnded(call) && (
        <p>
          <CompareWith kind="call" project={project} id={call.span_id} words={`call ${number}`} />
        </p>
      )}
    </>
  );
}

function TurnFacts({ turn, session }: { turn: OutlineTurn; session: Session }) {
  const { project } = session.outline;
  const asked = useAsk("GET /api/stop", { project, turn: turn.turn_id });
  return (
    <>
      <h2>
        <bdi>{plain(turn.agent_name) || "Turn"}</bdi>
      </h2>
      <p>
        <End end={turn.ended_how.split(":")[0] ?? ""} title={turn.ended_how} />{" "}
        <CompareWith
          kind="turn"
          project={project}
          id={turn.turn_id}
          words={`turn ${turn.turn_id}`}
        />
      </p>
      <Answered asked={asked} rows={3}>
        {(stop) => (
          <>
            <p>
              {stop.number > 0 && `Rule ${stop.number}: `}
              {stop.rule}.
            </p>
            {stop.detail && <Line text={stop.detail} />}
            <Facts>
              <NamedFacts facts={stop.facts} />
            </Facts>
            <ul class="evidence">
              {stop.rows.map((row) => (
                <li key={row.span_id}>
                  <a href={rowAddress(session, row.span_id)}>
                    <Line text={row.says} />
                  </a>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answered>
      <Facts>
        <Fact name="rounds">{count(turn.rounds)}</Fact>
        <Fact name="duration">
          {turn.status === "running" ? "still running" : seconds(turn.duration)}
        </Fact>
        <Fact name="tokens">
          {turn.input_tokens === null && turn.output_tokens === null
            ? "not reported"
            : `${count(turn.input_tokens)} in, ${count(turn.output_tokens)} out`}
        </Fact>
        <Fact name="cost">{turn.cost_usd === null ? "not known" : dollars(turn.cost_usd)}</Fact>
        <Fact name="version">{plain(turn.agent_version)}</Fact>
        <Fact name="turn id">
          <Id id={turn.turn_id} what="turn" />
        </Fact>
      </Facts>
    </>
  );
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

const MEANINGS: Readonly<Record<string, string>> = TERMS;

interface FactProps {
  name: string;
  children: ComponentChildren;
}

/** A fact with its name; nothing where there is none. */
export function Fact({ name, children }: FactProps) {
  if (children === "" || children === null || children === undefined || children === false)
    return null;
  return (
    <>
      <dt title={MEANINGS[name]}>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = { True: "yes", False: "no" };

/** Facts whose names are the names of columns. */
export function NamedFacts({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return facts.map(([name, value]) => (
    <Fact key={name} name={name.replaceAll("_", " ")}>
      {WORDS[value] ?? plain(value)}
    </Fact>
  ));
}

type Counted = Pick<OutlineCall, (typeof TOKENS)[number][1] | "tokens_estimated">;

const TOKENS = [
  ["tokens in", "input_tokens", "not reported by the provider"],
  ["from the cache", "cache_read_tokens", "no cache used"],
  ["into the cache", "cache_write_tokens", ""],
  ["tokens out", "output_tokens", "not reported by the provider"],
  ["reasoning", "reasoning_tokens", ""],
] as const;

export function TokenFacts({ call }: { call: Counted }) {
  return TOKENS.map(([name, field, missing]) => (
    <Fact key={name} name={name}>
      {call[field] === null || (call[field] === 0 && !field.endsWith("put_tokens"))
        ? missing
        : estimated(count(call[field]), call.tokens_estimated)}
    </Fact>
  ));
}
