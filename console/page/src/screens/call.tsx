// One model call: what was sent, what came back, what it cost.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { jaeger, traceIn } from "../frame/jaeger";
import { useStatus } from "../frame/status";
import { hint, useKeys } from "../keys";
import { CompareWith } from "../parts/compare_with";
import { commandLine, copy } from "../parts/copy";
import { Cost } from "../parts/cost";
import { Icon } from "../parts/icon";
import { Id } from "../parts/id";
import { bytes, count, seconds, When } from "../parts/numbers";
import { save } from "../parts/save";
import { Segments } from "../parts/segments";
import { Answered, Missing, Recorded, Scrolled } from "../parts/states";
import { Folded, Line, plain, Verbatim } from "../parts/text";
import { switchForm } from "../reading/forms";
import { Definition } from "../replay/definition";
import { Fact, Facts, NamedFacts, TokenFacts } from "../replay/inspector";
import { Message } from "../replay/message";
import { prettyJson, useTextsOf } from "../replay/texts";
import type { CallScreen, RequestAnswer } from "../types";
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

const toggleRequest = () => toggleParam("show", "json");

function Known({ call }: { call: CallScreen }) {
  const { project, span_id: span } = call;
  const shown = SHOWN.find(([form]) => form === param("show"))?.[0] ?? "";
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
          <Icon name="circle-x" /> {plain(call.error_type)}: <Line text={call.error_message} />
        </p>
      )}
      <div class="columns">
        <Scrolled label="Request">
          <h2>Request</h2>
          <p class="copies">
            <Segments
              label="How the request is shown"
              choices={SHOWN}
              value={shown}
              choose={(form) => replaceParams({ show: form })}
            />
            {sent && <Exactness sent={sent} />}
          </p>
          {shown ? (
            <Answered asked={request}>
              {(answer) => <Request sent={answer} shown={shown} />}
            </Answered>
          ) : (
            <Sent call={call} />
          )}
        </Scrolled>
        <Scrolled label="Answer, cost and facts" look="beside">
          <section aria-label="Answer">
            <h2>Answer</h2>
            <Answer call={call} />
          </section>
          <section aria-label="Cost">
            <h2>Cost</h2>
            <Cost cost={call.cost} />
          </section>
          <section aria-label="Facts">
            <h2>Facts</h2>
            <FactsOf call={call} />
          </section>
        </Scrolled>
      </div>
    </div>
  );
}

function replayParams(call: CallScreen): Record<string, string> {
  return { at: call.span_id, ...(call.session_id ? {} : { trace: call.trace_id }) };
}

function Head({ call }: { call: CallScreen }) {
  const { project, before, after, span_id: span } = call;
  const facts = [
    seconds(call.duration),
    call.time_to_first_chunk === null ? "" : `first token ${seconds(call.time_to_first_chunk)}`,
    call.tries > 1 ? `${count(call.tries)} tries` : "",
    call.round > 0 ? `round ${count(call.round)}` : "",
  ];
  return (
    <header class="bar">
      <h1>
        Call {count(call.number)} of {count(call.calls)}
      </h1>
      <span>
        <bdi>{plain(call.model)}</bdi> · {facts.filter(Boolean).join(" · ")}
      </span>
      <span class="faint">
        <When time={call.start_time} />
      </span>
      <span class="space" />
      <CompareWith kind="call" project={project} id={span} words={`call ${call.number}`} />
      <button type="button" onClick={() => void save({ project, call: span }, span)}>
        Save as HTML
      </button>
      <a href={withParams(["s", project, call.session_id], replayParams(call))}>Replay</a>
      {before && <a href={to("diff", project, `${before}..${span}`)}>What changed</a>}
      {before && (
        <a href={to("call", project, before)} title={hint("previousGroup")}>
          Call before
        </a>
      )}
      {after && (
        <a href={to("call", project, after)} title={hint("nextGroup")}>
          Call after
        </a>
      )}
    </header>
  );
}

type Shown = "" | "json" | "curl" | "python";

const SHOWN: readonly (readonly [Shown, string])[] = [
  ["", "Messages"],
  ["json", "JSON"],
  ["curl", "curl"],
  ["python", "Python"],
];

/** The request as the provider gets it, in one of its forms. */
function Request({ sent, shown }: { sent: RequestAnswer; shown: Shown }) {
  const text = { json: sent.body, curl: sent.curl, python: sent.python, "": null }[shown];
  return (
    <>
      {text && (
        <p>
          <button type="button" onClick={() => void copy(text, `the ${shown}`)}>
            Copy
          </button>
        </p>
      )}
      <Recorded text={text} missing={plain(sent.reason)} />
    </>
  );
}

function Exactness({ sent }: { sent: RequestAnswer }) {
  if (sent.exact) {
    return (
      <span class="good">
        <Icon name="circle-check" /> exact
      </span>
    );
  }
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
  const isSaid = call.inputs.some(({ role }) => role === "system" || role === "developer");
  return (
    <>
      <Folded title="parameters" text={prettyJson(call.request_parameters)} />
      {call.tools && <Definition project={project} hash={call.tools} label="tools" />}
      {call.system && !isSaid && (
        <Definition project={project} hash={call.system} label="system prompt" />
      )}
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
        <Fact name="finish reason">{plain(call.finish_reasons.join(", ")) || "not reported"}</Fact>
        <TokenFacts call={call} />
        <Fact name="agent">{plain(call.agent_name)}</Fact>
        <Fact name="provider">{plain(call.provider)}</Fact>
        <NamedFacts facts={call.facts.map(({ name, value }) => [name, value])} />
        <Fact name="span">
          <Id id={call.span_id} what="span" />
        </Fact>
        <Fact name="trace">
          {jaeger.value && call.trace_id ? (
            <a href={traceIn(call.trace_id)} target="_blank" rel="noreferrer">
              {plain(call.trace_id)} in Jaeger <Icon name="arrow-up-right" />
            </a>
          ) : (
            call.trace_id && <Id id={call.trace_id} what="trace" />
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
