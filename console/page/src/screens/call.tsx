// One model call: what was sent, what came back, what it cost.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { jaeger, traceIn } from "../frame/jaeger";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { bytes, count, dollars, estimated, seconds, When } from "../parts/numbers";
import { save } from "../parts/save";
import { Answered, Missing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import { nextForm } from "../reading/forms";
import { Definition } from "../replay/definition";
import { Fact, Facts } from "../replay/inspector";
import { Message, textOf } from "../replay/message";
import { partsOf } from "../replay/texts";
import { useTextsOf } from "../replay/use_texts";
import type { CallScreen, CostParts, RequestAnswer } from "../types";
import { address, go, param, setParams, to, withParams } from "../url";
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

function Known({ call }: { call: CallScreen }) {
  const { project, span_id: span } = call;
  const showing = param("show") === "request";
  const request = useAsk("GET /api/request", { project, span });
  const told = request.answer;
  const heads = [...call.inputs, ...call.outputs];
  const at = Number(param("at") || 0) - 1;
  const move = (by: 1 | -1) => {
    const next = at < 0 && by < 0 ? heads.length - 1 : at + by;
    if (!heads[next]) return false;
    setParams({ at: String(next + 1) }, { replace: true });
    return true;
  };
  // Without a chosen one, the answer's first message.
  const chosen = heads[at] ?? call.outputs[0];
  const open = (id: string) => id && (() => go(to("call", project, id)));
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    ...(chosen
      ? {
          form: () =>
            nextForm(chosen.hash, partsOf(project, scopeOf(call), chosen.hash)?.map(textOf) ?? []),
        }
      : {}),
    nextGroup: open(call.after),
    previousGroup: open(call.before),
    up: () => go(withParams(["s", project, call.session_id], replayParams(call))),
    request: () => setParams({ show: showing ? "" : "request" }, { replace: true }),
    context: () => go(to("context", project, span)),
    copyId: () => copy(span, "the call's id"),
    ...(call.before ? { changed: () => go(to("diff", project, `${call.before}..${span}`)) } : {}),
    ...(told?.curl ? { copyCurl: () => copy(told.curl, "the curl command") } : {}),
    ...(told?.python ? { copyPython: () => copy(told.python, "the program") } : {}),
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
          <Copies told={told} showing={showing} />
          {showing ? (
            <Answered asked={request}>{(answer) => <Body told={answer} />}</Answered>
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
      <strong>cost {cost.estimated ? dollars(cost.cost_usd) : dollars(cost.cost_usd)}</strong>
      {cost.parts.map((part) => (
        <span key={part.kind}>
          {part.kind} {count(part.count)}{" "}
          <meter min={0} max={most || 1} value={part.cost_usd} aria-hidden="true" />{" "}
          {cost.estimated ? estimated(dollars(part.cost_usd)) : dollars(part.cost_usd)}
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

function Copies({ told, showing }: { told: RequestAnswer | null; showing: boolean }) {
  return (
    <p class="copies">
      <button
        type="button"
        aria-pressed={showing}
        title={hint("request")}
        onClick={() => setParams({ show: showing ? "" : "request" }, { replace: true })}
      >
        JSON
      </button>
      {told?.curl && (
        <button
          type="button"
          title={hint("copyCurl")}
          onClick={() => void copy(told.curl, "the curl command")}
        >
          Copy as curl
        </button>
      )}
      {told?.python && (
        <button
          type="button"
          title={hint("copyPython")}
          onClick={() => void copy(told.python, "the program")}
        >
          Copy as Python
        </button>
      )}
      {told && <Exactness told={told} />}
    </p>
  );
}

function Exactness({ told }: { told: RequestAnswer }) {
  if (told.exact) return <span class="good">✓ exact</span>;
  if (!told.altered.length) return <Missing reason={plain(told.reason)} />;
  return (
    <details class="warn">
      <summary>rebuilt: {count(told.altered.length)} parts are not as they were sent</summary>
      <ul>
        {told.altered.map((one, at) => (
          <li key={at}>
            {one.kind}: {plain(one.where)}
            {one.size > 0 && `, ${bytes(one.size)}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Body({ told }: { told: RequestAnswer }) {
  if (!told.body) return <Missing reason={plain(told.reason)} />;
  return <Verbatim text={told.body} />;
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
      {call.request_parameters && (
        <details>
          <summary>parameters</summary>
          <Verbatim text={pretty(call.request_parameters)} />
        </details>
      )}
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

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
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
  return <Missing reason={call.error_type ? "none: it failed" : "not recorded, or pruned"} />;
}

function FactsOf({ call }: { call: CallScreen }) {
  const tokens = (value: number | null) =>
    call.tokens_estimated ? estimated(count(value)) : count(value);
  return (
    <>
      <Facts>
        <Fact name="finish">{plain(call.finish_reasons.join(", ")) || "–"}</Fact>
        <Fact name="tokens in">{tokens(call.input_tokens)}</Fact>
        <Fact name="cache read">{tokens(call.cache_read_tokens)}</Fact>
        <Fact name="cache write">{tokens(call.cache_write_tokens)}</Fact>
        <Fact name="tokens out">{tokens(call.output_tokens)}</Fact>
        <Fact name="reasoning">{tokens(call.reasoning_tokens)}</Fact>
        <Fact name="agent">{plain(call.agent_name) || "–"}</Fact>
        <Fact name="provider">{plain(call.provider)}</Fact>
        {call.facts.map((fact) => (
          <Fact key={fact.name} name={fact.name.replaceAll("_", " ")}>
            {plain(fact.value)}
          </Fact>
        ))}
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
