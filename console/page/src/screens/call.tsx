// One model call: what was sent, what came back, what it cost.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { jaeger, traceIn } from "../frame/jaeger";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { KeyButton } from "../parts/key_button";
import { bytes, count, dollars, estimated, seconds, When } from "../parts/numbers";
import { save } from "../parts/save";
import { Answered, Missing, Recorded } from "../parts/states";
import { Folded, Line, plain, Verbatim } from "../parts/text";
import { switchForm } from "../reading/forms";
import { Definition } from "../replay/definition";
import { Fact, Facts, NamedFacts, TokenFacts } from "../replay/inspector";
import { Message } from "../replay/message";
import { prettyJson, useTextsOf } from "../replay/texts";
import type { CallScreen, CostParts, RequestAnswer } from "../types";
import { address, go, param, replaceParams, to, toggleParam, withParams } from "../url";
import { useAsk } from "../use_ask";

export function Call() {
  const [, project = "", span = ""] = address.value.path;
  const asked = useAsk("GET /api/call", { project, span });
  useStatus(commandLine(["show", span]), "");
  return (
    <Answered asked={asked} heading="Call">
      {(call) => <Known call={call} key={call.span_id} />}
    </Answered>
  );
}

const toggleRequest = () => toggleParam("show", "request");

function Known({ call }: { call: CallScreen }) {
  const { project, span_id: span } = call;
  const showing = param("show") === "request";
  const request = useAsk("GET /api/request", { project, span });
  const sent = request.answer;
  const heads = [...call.inputs, ...call.outputs];
  const at = Number(param("at") || 0) - 1;
  const move = (by: 1 | -1) => {
    const next = at < 0 && by < 0 ? heads.length - 1 : at + by;
    if (!heads[next]) return false;
    replaceParams({ at: String(next + 1) });
    return true;
  };
  // Without a chosen one, the answer's first message.
  const chosen = heads[at] ?? call.outputs[0];
  const open = (id: string) => id && (() => go(to("call", project, id)));
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    form: chosen && (() => switchForm(chosen.hash)),
    nextGroup: open(call.after),
    previousGroup: open(call.before),
    up: () => go(withParams(["s", project, call.session_id], replayParams(call))),
    request: toggleRequest,
    context: () => go(to("context", project, span)),
    copyId: () => copy(span, "the call's id"),
    changed: call.before && (() => go(to("diff", project, `${call.before}..${span}`))),
    copyCurl: sent?.curl && (() => copy(sent.curl, "the curl command")),
    copyPython: sent?.python && (() => copy(sent.python, "the program")),
  });
  return (
    <div class="call-screen">
      <Head call={call} />
      {call.error_type && (
        <p class="problem">
          ✗ {plain(call.error_type)}: <Line text={call.error_message} />
        </p>
      )}
      <Cost cost={call.cost} />
      <div class="columns">
        <section aria-label="Request">
          <h2>Request</h2>
          <Copies sent={sent} showing={showing} />
          {showing ? (
            <Answered asked={request}>
              {({ body, reason }) => <Recorded text={body} missing={plain(reason)} />}
            </Answered>
          ) : (
            <Sent call={call} />
          )}
        </section>
        <section aria-label="Answer">
          <h2>Answer</h2>
          <Answer call={call} />
        </section>
        <section aria-label="Facts">
          <h2>Facts</h2>
          <FactsOf call={call} />
        </section>
      </div>
    </div>
  );
}

function replayParams(call: CallScreen): Record<string, string> {
  return { at: call.span_id, ...(call.session_id ? {} : { trace: call.trace_id }) };
}

function Head({ call }: { call: CallScreen }) {
  const { project, before, after, span_id: span } = call;
  return (
    <header class="bar">
      <h1>
        Call {count(call.number)} of {count(call.calls)}
      </h1>
      <span>
        <bdi>{plain(call.model)}</bdi> · {seconds(call.duration)} · first token{" "}
        {seconds(call.time_to_first_chunk)} · {count(call.tries)}{" "}
        {call.tries === 1 ? "try" : "tries"} · round {count(call.round)}
      </span>
      <span class="faint">
        <When time={call.start_time} />
      </span>
      <span class="space" />
      <button type="button" onClick={() => void save({ project, call: span }, span)}>
        Save as HTML
      </button>
      <a href={withParams(["s", project, call.session_id], replayParams(call))}>replay</a>
      {before && <a href={to("diff", project, `${before}..${span}`)}>what changed</a>}
      {before && (
        <a href={to("call", project, before)} title={hint("previousGroup")}>
          ◂ before
        </a>
      )}
      {after && (
        <a href={to("call", project, after)} title={hint("nextGroup")}>
          after ▸
        </a>
      )}
    </header>
  );
}

function Cost({ cost }: { cost: CostParts }) {
  const most = Math.max(...cost.parts.map((part) => part.cost_usd), 0);
  return (
    <div class="cost">
      <strong>cost {dollars(cost.cost_usd)}</strong>
      {cost.parts.map((part) => (
        <span key={part.kind}>
          {part.kind} {count(part.count)}{" "}
          <meter min={0} max={most || 1} value={part.cost_usd} aria-hidden="true" />{" "}
          {estimated(dollars(part.cost_usd), cost.estimated)}
        </span>
      ))}
      {cost.reason && <Missing reason={cost.reason} />}
      {cost.price_version && <span class="faint">{plain(cost.price_version)}</span>}
      {cost.estimated && cost.parts.length > 0 && (
        <Missing reason="the parts are an estimate: they do not add up to the recorded cost" />
      )}
    </div>
  );
}

function Copies({ sent, showing }: { sent: RequestAnswer | null; showing: boolean }) {
  const copies = [
    ["copyCurl", "curl", sent?.curl, "the curl command"],
    ["copyPython", "Python", sent?.python, "the program"],
  ] as const;
  return (
    <p class="copies">
      <KeyButton action="request" on={showing} act={toggleRequest} bare>
        JSON
      </KeyButton>
      {copies.map(
        ([action, language, code, name]) =>
          code && (
            <KeyButton key={action} action={action} act={() => copy(code, name)} bare>
              Copy as {language}
            </KeyButton>
          ),
      )}
      {sent && <Exactness sent={sent} />}
    </p>
  );
}

function Exactness({ sent }: { sent: RequestAnswer }) {
  if (sent.exact) return <span class="good">✓ exact</span>;
  if (!sent.altered.length) return <Missing reason={plain(sent.reason)} />;
  return (
    <details class="warn">
      <summary>rebuilt: {count(sent.altered.length)} parts differ from the request</summary>
      <ul>
        {sent.altered.map((one, at) => (
          <li key={at}>
            {one.kind}: {plain(one.where)}
            {one.size > 0 && `, ${bytes(one.size)}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Sent({ call }: { call: CallScreen }) {
  const { project } = call;
  const scope = scopeOf(call);
  const hashes = useMemo(
    () =>
      [...call.inputs, ...call.outputs].filter((head) => head.recorded).map((head) => head.hash),
    [call],
  );
  useTextsOf(project, scope, hashes);
  return (
    <>
      <Folded title="parameters" text={prettyJson(call.request_parameters)} />
      {call.tools && <Definition project={project} hash={call.tools} label="tools" />}
      {call.system && <Definition project={project} hash={call.system} label="system prompt" />}
      {call.context && (
        <Definition project={project} hash={call.context} label="assembled context" />
      )}
      <ol class="messages">
        {call.inputs.map((head, at) => (
          <Chosen key={at} place={at + 1}>
            <Message head={head} project={project} scope={scope} id={head.hash} />
          </Chosen>
        ))}
      </ol>
    </>
  );
}

/** A message to which j and k come. */
function Chosen({ place, children }: { place: number; children: ComponentChildren }) {
  const element = useRef<HTMLLIElement>(null);
  const chosen = param("at") === String(place);
  useLayoutEffect(() => {
    if (!chosen) return;
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <li ref={element} tabIndex={-1} aria-current={chosen}>
      {children}
    </li>
  );
}

function scopeOf(call: CallScreen): string {
  return call.session_id || call.trace_id;
}

function Answer({ call }: { call: CallScreen }) {
  const scope = scopeOf(call);
  if (call.outputs.some((head) => head.recorded)) {
    return (
      <ol class="messages">
        {call.outputs.map((head, at) => (
          <Chosen key={head.hash} place={call.inputs.length + at + 1}>
            <Message head={head} project={call.project} scope={scope} id={head.hash} />
          </Chosen>
        ))}
      </ol>
    );
  }
  if (call.response_text) return <Verbatim text={call.response_text} />;
  return (
    <Missing reason={call.error_type ? "no answer: the call failed" : "not recorded, or pruned"} />
  );
}

function FactsOf({ call }: { call: CallScreen }) {
  return (
    <>
      <Facts>
        <Fact name="finish">{plain(call.finish_reasons.join(", ")) || "–"}</Fact>
        <TokenFacts call={call} />
        <Fact name="agent">{plain(call.agent_name) || "–"}</Fact>
        <Fact name="provider">{plain(call.provider)}</Fact>
        <NamedFacts facts={call.facts.map(({ name, value }) => [name, value])} />
        <Fact name="span">{plain(call.span_id)}</Fact>
        <Fact name="trace">
          {jaeger.value && call.trace_id ? (
            <a href={traceIn(call.trace_id)} target="_blank" rel="noreferrer">
              {plain(call.trace_id)} <span aria-hidden="true">↗</span> Jaeger
            </a>
          ) : (
            plain(call.trace_id)
          )}
        </Fact>
      </Facts>
      {call.attributes.length > 0 && (
        <details>
          <summary>attributes ({count(call.attributes.length)})</summary>
          <Facts>
            {call.attributes.map((fact) => (
              <Fact key={fact.name} name={plain(fact.name)}>
                {plain(fact.value)}
              </Fact>
            ))}
          </Facts>
        </details>
      )}
    </>
  );
}
