// What changed between two calls: what is set up, then the messages in order, and how far a cache
// could hold.
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { stepFocus } from "../frame/focus";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine } from "../parts/copy";
import { count, counted, estimated } from "../parts/numbers";
import { Answered, Missing, Nothing } from "../parts/states";
import { Line, plain } from "../parts/text";
import { Written } from "../reading/written";
import { toolChanges } from "../replay/row_view";
import { partsOf, resultText, useTextsOf, written } from "../replay/texts";
import { WordsView } from "../replay/words_view";
import type { CacheBreak, ComparedCall, Difference, Head, MessageChange } from "../types";
import { address, go, param, to, toggleParam } from "../url";
import { useAsk } from "../use_ask";

const TITLE = "What changed";

export function Changed() {
  const [, project = "", pair = ""] = address.value.path;
  const [before = "", after = ""] = pair.split("..");
  const asked = useAsk("GET /api/diff", before && after ? { project, before, after } : null);
  useStatus(commandLine(["diff", before, after]), "");
  if (!before || !after) {
    return <Nothing title="Name two calls: /diff/PROJECT/CALL..CALL" heading />;
  }
  return (
    <Answered asked={asked} heading={TITLE}>
      {(difference) => <Comparison difference={difference} />}
    </Answered>
  );
}

function Comparison({ difference }: { difference: Difference }) {
  const body = useRef<HTMLDivElement>(null);
  const { before, after } = difference;
  useChangedTexts(difference);
  const step = (by: 1 | -1) => () =>
    stepFocus([...(body.current?.querySelectorAll("[data-change]") ?? [])], by);
  useKeys({
    next: step(1),
    previous: step(-1),
    nextProblem: step(1),
    previousProblem: step(-1),
    up: () => go(to("call", after.project, after.span_id)),
  });
  const nothing =
    !difference.parameters.length &&
    difference.system.same &&
    difference.tools_same &&
    difference.messages.every((one) => one.kind === "same");
  return (
    <div class="difference" ref={body}>
      <header class="bar">
        <h1>{TITLE}</h1>
        <CallLink call={before} /> <span class="faint">to</span> <CallLink call={after} />
        <span class="space" />
        <button
          type="button"
          aria-pressed={param("only") === "1"}
          onClick={() => toggleParam("only")}
        >
          Changes only
        </button>
      </header>
      {nothing && <p>Both requests are the same.</p>}
      <SetUp difference={difference} />
      <ol class="messages">
        {difference.messages.map((change) => (
          <Change
            key={`${change.before} ${change.after}`}
            change={change}
            difference={difference}
          />
        ))}
      </ol>
      <p class="cache">{cacheSentence(difference.cache)}</p>
    </div>
  );
}

function CallLink({ call }: { call: ComparedCall }) {
  return (
    <a href={to("call", call.project, call.span_id)}>
      <span class="mono">{plain(call.span_id.slice(0, 8))}</span> {plain(call.model)},{" "}
      {counted(call.messages, "message")}
    </a>
  );
}

function SetUp({ difference }: { difference: Difference }) {
  const { system, before, after } = difference;
  return (
    <dl class="setup">
      <Part name="parameters" same={difference.parameters.length === 0}>
        {difference.parameters.map((one) => (
          <div key={one.name} data-change tabIndex={-1}>
            <span class="mono">{plain(one.name)}</span>{" "}
            <del>
              <Line text={one.before || "(not given)"} />
            </del>{" "}
            <ins>
              <Line text={one.after || "(not given)"} />
            </ins>
          </div>
        ))}
      </Part>
      <Part name="tools" same={difference.tools_same}>
        <div class="warn" data-change tabIndex={-1}>
          {plain(toolChanges(difference.tools))}
        </div>
      </Part>
      <Part name="system" same={system.same}>
        <div data-change tabIndex={-1}>
          <Defined project={before.project} before={before.system} after={after.system} />
        </div>
      </Part>
    </dl>
  );
}

function Part(props: { name: string; same: boolean; children: ComponentChildren }) {
  const { name, same, children } = props;
  return (
    <>
      <dt>{name}</dt>
      <dd>{same ? <span class="faint">the same</span> : children}</dd>
    </>
  );
}

function Defined({ project, before, after }: { project: string; before: string; after: string }) {
  const was = useAsk("GET /api/definition", before ? { project, hash: before } : null);
  const now = useAsk("GET /api/definition", after ? { project, hash: after } : null);
  if (was.error || now.error) {
    return <Missing reason={plain((was.error ?? now.error)?.message ?? "")} />;
  }
  if ((before && !was.answer) || (after && !now.answer)) return <Missing reason="…" />;
  return <WordsView before={was.answer?.text ?? ""} after={now.answer?.text ?? ""} />;
}

const MARKS = { same: "=", edited: "~", dropped: "−", added: "+" } as const;

function Change({ change, difference }: { change: MessageChange; difference: Difference }) {
  const kind = change.kind as keyof typeof MARKS;
  const at = (change.after >= 0 ? change.after : change.before) + 1;
  const places = change.count > 1 ? `${count(at)}–${count(at + change.count - 1)}` : count(at);
  if (kind === "same") {
    if (param("only") === "1") return null;
    return (
      <li class="faint">
        <span class="mark">=</span> {places} · {counted(change.count, "message")} the same
      </li>
    );
  }
  const head = change.now ?? change.was;
  return (
    <li class={`change ${kind}`} data-change tabIndex={-1}>
      <span class="mark" aria-hidden="true">
        {MARKS[kind]}
      </span>{" "}
      {places} <strong>{plain(head?.role ?? "")}</strong>{" "}
      {kind === "edited" ? "edited in place" : kind}
      {head && !head.recorded && <Missing reason={` not recorded, or pruned: ${head.hash}`} />}
      {kind === "edited" && change.was && change.now ? (
        <WordsView
          before={textOf(difference.before, change.was)}
          after={textOf(difference.after, change.now)}
        />
      ) : (
        head?.recorded && (
          <Written
            text={textOf(change.now ? difference.after : difference.before, head)}
            form="read"
            prose={["user", "assistant", "system"].includes(head.role) && head.kinds.every(isText)}
          />
        )
      )}
    </li>
  );
}

function scopeOf(call: ComparedCall): string {
  return call.session_id || call.trace_id;
}

/** The whole text where it is there, else how it begins. */
function textOf(call: ComparedCall, head: Head): string {
  const parts = partsOf(call.project, scopeOf(call), head.hash);
  if (!parts) return head.text;
  return parts
    .map((part) =>
      part.type === "tool_call"
        ? `${part.name ?? ""} ${written(part.arguments)}`
        : part.type === "tool_call_response"
          ? resultText(part.response)
          : written(part.content ?? part),
    )
    .join("\n\n");
}

const isText = (kind: string) => kind === "text";

function useChangedTexts(difference: Difference): void {
  const [old, young] = useMemo(() => {
    const hashes = (pick: (change: MessageChange) => Head | null) =>
      difference.messages.map(pick).flatMap((head) => (head?.recorded ? [head.hash] : []));
    return [hashes((one) => one.was), hashes((one) => one.now)];
  }, [difference]);
  useTextsOf(difference.before.project, scopeOf(difference.before), old ?? []);
  useTextsOf(difference.after.project, scopeOf(difference.after), young ?? []);
}

const WHERE: Readonly<Record<string, string>> = {
  "": "The first request is unchanged: a cache can hold all of it",
  model: "The model changed: no cache applies",
  tools: "The tools changed, and they come first: no cache applies",
  system: "The system prompt changed: a cache can hold only the tools",
};

function cacheSentence(cache: CacheBreak): string {
  const where =
    WHERE[cache.place] ??
    `Message ${count(cache.message + 1)} changed first: a cache can hold all before it`;
  const tokens = cache.shared_tokens ? `, ${estimated(count(cache.shared_tokens))} tokens` : "";
  const read =
    cache.read === null
      ? ""
      : `; ${cache.read ? count(cache.read) : "no"} tokens were read from it`;
  const lost = cache.lost ? `, ${count(cache.lost)} fewer than before` : "";
  return `${where}${tokens}${read}${lost}.`;
}
