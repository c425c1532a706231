// What is known of the row that is chosen, beside the conversation.
import type { ComponentChildren } from "preact";
import { End } from "../parts/end";
import { count, dollars, estimated, seconds } from "../parts/numbers";
import { Answered, Scrolled } from "../parts/states";
import { Line, plain } from "../parts/text";
import type { OutlineCall, OutlineTurn } from "../types";
import { to } from "../url";
import { useAsk } from "../use_ask";
import { rowAddress } from "./place";
import type { CallRow, Row, Session } from "./rows";

export function Inspector({ row, session }: { row: Row | undefined; session: Session }) {
  return (
    <Scrolled aside look="inspector" label="The chosen row">
      {row ? (
        <Chosen row={row} session={session} />
      ) : (
        <p class="faint">Press j or k to choose a row.</p>
      )}
    </Scrolled>
  );
}

function Chosen({ row, session }: { row: Row; session: Session }) {
  if (row.kind === "turn" || row.kind === "end") {
    return <TurnFacts turn={row.turn} session={session} />;
  }
  if (row.kind === "call") {
    return <CallFacts row={row} project={session.outline.project} />;
  }
  const ran = row.request.ran;
  return (
    <>
      <h2>{plain(row.request.asked.name)}</h2>
      <Facts>
        <Fact name="took">{seconds(ran?.duration)}</Fact>
        <Fact name="round">{count(ran?.round)}</Fact>
        <Fact name="result">{ran ? (ran.failed ? "✗ failed" : "✓ succeeded") : "–"}</Fact>
        <Fact name="same arguments">{ran ? `${count(ran.times)}×` : "–"}</Fact>
        <Fact name="call id">{plain(row.request.asked.call_id) || "–"}</Fact>
        <Fact name="span">{plain(ran?.span_id ?? "") || "–"}</Fact>
      </Facts>
    </>
  );
}

function CallFacts({ row: { call, number }, project }: { row: CallRow; project: string }) {
  return (
    <>
      <h2>Call {number}</h2>
      <Facts>
        <Fact name="operation">{plain(call.operation) || "–"}</Fact>
        <Fact name="model">{plain(call.model)}</Fact>
        <Fact name="took">{seconds(call.duration)}</Fact>
        <Fact name="first token">{seconds(call.time_to_first_chunk)}</Fact>
        <TokenFacts call={call} />
        <Fact name="cost">{dollars(call.cost_usd)}</Fact>
        <Fact name="finish">{plain(call.finish_reasons.join(", ")) || "–"}</Fact>
        <Fact name="round">{count(call.round)}</Fact>
        <Fact name="messages">{count(call.messages)}</Fact>
      </Facts>
      <p>
        <a href={to("call", project, call.span_id)}>open the call</a>
      </p>
      {call.before && (
        <p>
          <a href={to("diff", project, `${call.before}..${call.span_id}`)}>
            compare with the call before
          </a>
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
        <End end={turn.ended_how.split(":")[0] ?? ""} title={turn.ended_how} />
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
        <Fact name="took">{turn.status === "running" ? "–" : seconds(turn.duration)}</Fact>
        <Fact name="tokens">
          {count(turn.input_tokens)} → {count(turn.output_tokens)}
        </Fact>
        <Fact name="cost">{dollars(turn.cost_usd)}</Fact>
        <Fact name="version">{plain(turn.agent_version) || "–"}</Fact>
      </Facts>
    </>
  );
}

export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Facts whose names are the names of columns. */
export function NamedFacts({ facts }: { facts: readonly (readonly [string, string])[] }) {
  return facts.map(([name, value]) => (
    <Fact key={name} name={name.replaceAll("_", " ")}>
      {plain(value)}
    </Fact>
  ));
}

type Counted = Pick<OutlineCall, (typeof TOKENS)[number][1] | "tokens_estimated">;

const TOKENS = [
  ["tokens in", "input_tokens"],
  ["cache read", "cache_read_tokens"],
  ["cache write", "cache_write_tokens"],
  ["tokens out", "output_tokens"],
  ["reasoning", "reasoning_tokens"],
] as const;

export function TokenFacts({ call }: { call: Counted }) {
  return TOKENS.map(([name, field]) => (
    <Fact key={name} name={name}>
      {estimated(count(call[field]), call.tokens_estimated)}
    </Fact>
  ));
}
