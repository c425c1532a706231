// What was put into a prompt, what was left out, and why.
import { useMemo, useState } from "preact/hooks";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { useCursor } from "../parts/list";
import { bytes, count, counted, estimated, fixed, seconds } from "../parts/numbers";
import { Shares } from "../parts/share";
import { Answered, Missing, Nothing, Scrolled } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { Line, plain } from "../parts/text";
import { Written } from "../reading/written";
import type {
  AssembledContext,
  Composition,
  ContextItem,
  ContextPanel,
  PromptPart,
} from "../types";
import { address, param, replaceParams, to } from "../url";
import { useAsk } from "../use_ask";

export function Context() {
  const [, project = "", id = ""] = address.value.path;
  const asked = useAsk("GET /api/context", id ? { id, project } : null);
  useStatus(commandLine(["context", id]));
  return (
    <>
      <h1>Context</h1>
      {!id && <Nothing title="Choose a call in a replay and open its context there." />}
      <Answered asked={asked}>{(panel) => <Panel panel={panel} />}</Answered>
    </>
  );
}

function Panel({ panel }: { panel: ContextPanel }) {
  const many = panel.assemblies.length;
  const at = Math.min(Number(param("n")) || 0, Math.max(0, many - 1));
  const move = (by: number) =>
    replaceParams({ n: String(Math.max(0, Math.min(many - 1, at + by))), at: "" });
  useKeys(many > 1 ? { nextGroup: () => move(1), previousGroup: () => move(-1) } : {});
  const assembly = panel.assemblies[at];
  if (assembly) {
    return (
      <>
        {many > 1 && (
          <p class="switches">
            Assembly {at + 1} of {many}{" "}
            <button type="button" disabled={at === 0} onClick={() => move(-1)}>
              Previous
            </button>
            <button type="button" disabled={at === many - 1} onClick={() => move(1)}>
              Next
            </button>
          </p>
        )}
        <OneAssembly key={assembly.id} assembly={assembly} project={panel.project} />
      </>
    );
  }
  if (panel.composition?.parts.length) return <Parts made={panel.composition} />;
  return (
    <Nothing title={`No context assembly is recorded for this ${plain(panel.kind)}.`}>
      <p>
        <code>with turnspan.context_assembly(...)</code> records one.
      </p>
    </Nothing>
  );
}

const PARTS: readonly Column<PromptPart>[] = [
  { head: "part", show: ({ name }) => name },
  { head: "messages", look: "count", show: ({ messages }) => count(messages) },
  { head: "bytes", look: "number", show: (part) => bytes(part.bytes) },
  { head: "tokens", look: "count", show: ({ tokens }) => estimated(count(tokens)) },
];

/** The parts of a prompt without a recorded assembly, by bytes. */
function Parts({ made }: { made: Composition }) {
  const sum = made.parts.reduce((total, part) => total + part.tokens, 0);
  return (
    <section class="parts" aria-label="Parts of the prompt">
      <p>
        No context assembly is recorded. These parts were sent; their tokens are estimated by bytes
        (
        {made.input_tokens === null
          ? "the provider counted none"
          : `the provider counted ${count(made.input_tokens)}`}
        ):
      </p>
      <Shares
        label="Parts of the prompt by their estimated tokens"
        whole={sum}
        shares={made.parts.map((part) => ({
          name: part.name,
          size: part.tokens,
          words: `${estimated(count(part.tokens))} tokens`,
        }))}
      />
      <Table columns={PARTS} rows={made.parts} keyOf={({ name }) => name} />
      {made.missing > 0 && (
        <p>
          <Missing
            reason={`${counted(made.missing, "more part")} not recorded, or pruned: not counted.`}
          />
        </p>
      )}
    </section>
  );
}

function OneAssembly({ assembly, project }: { assembly: AssembledContext; project: string }) {
  // What was left out, and why, is what a reader comes for.
  const items = useMemo(
    () => [...assembly.items].sort((one, other) => Number(one.kept) - Number(other.kept)),
    [assembly],
  );
  const cursor = useCursor(items, keyOf);
  const [outcomesOf, setOutcomesOf] = useState("");
  const chosen = items[cursor.at];
  useKeys({
    order: chosen && (() => setOutcomesOf(outcomesOf === chosen.id ? "" : chosen.id)),
    copyId: chosen && (() => copy(chosen.id, "the item's id")),
  });
  const tokens = (number: number | null) => estimated(count(number), assembly.used_estimated);
  return (
    <section class="context" aria-label="Assembly">
      <Heading assembly={assembly} project={project} />
      {assembly.bypassed && (
        <p class="warn">
          <Icon name="triangle-alert" /> Bypassed:{" "}
          <Line text={assembly.bypass_reason || "no reason recorded"} />
        </p>
      )}
      {assembly.sections.length > 0 && (
        <Shares
          label={`Budget ${count(assembly.budget)}, used ${count(assembly.used)} tokens`}
          whole={assembly.budget ?? 0}
          shares={assembly.sections.map((section) => ({
            name: plain(section.name),
            size: section.tokens,
            words: `${tokens(section.tokens)} kept${section.dropped_tokens ? `, ${tokens(section.dropped_tokens)} dropped` : ""}`,
          }))}
        />
      )}
      <div class="assembled">
        <Steps assembly={assembly} />
        {items.length > 0 && (
          <Table label="Items" columns={ITEMS} rows={items} keyOf={keyOf} cursor={cursor} clicks />
        )}
        <Scrolled aside label="Text">
          {outcomesOf && <Outcomes item={outcomesOf} project={project} />}
          <Text assembly={assembly} {...(chosen && { chosen })} />
        </Scrolled>
      </div>
    </section>
  );
}

function Heading({ assembly, project }: { assembly: AssembledContext; project: string }) {
  const over = assembly.budget !== null && (assembly.used ?? 0) > assembly.budget;
  return (
    <p class="switches">
      <strong>
        <Line text={assembly.task_type || assembly.agent_name || assembly.id} />
      </strong>
      {assembly.entities.length > 0 && <Line text={`about ${assembly.entities.join(", ")}`} />}
      <span class={over ? "bad" : undefined}>
        {assembly.budget === null ? "no budget" : `budget ${count(assembly.budget)} tokens`} · used{" "}
        {estimated(count(assembly.used), assembly.used_estimated)}
        {over && " (over the budget)"}
      </span>
      <span>
        kept {count(assembly.kept)} of {count(assembly.considered)}
      </span>
      <span class="faint">{seconds(assembly.duration)}</span>
      {assembly.status !== "final" && <span class="busy">{plain(assembly.status)}</span>}
      {assembly.error_type && (
        <span class="bad">
          <Icon name="circle-x" /> {plain(assembly.error_type)}
        </span>
      )}
      {assembly.calls.map((call) => (
        <a key={call} href={to("call", project, call)}>
          Open the call that used it
        </a>
      ))}
    </p>
  );
}

function Steps({ assembly }: { assembly: AssembledContext }) {
  if (!assembly.steps.length) return null;
  return (
    <ol class="steps" aria-label="Steps">
      {assembly.steps.map((step) => (
        <li key={step.name}>
          <span class={step.error_type ? "bad" : "good"}>
            <Icon name={step.error_type ? "circle-x" : "check"} />
          </span>{" "}
          <Line text={step.name} /> <span class="faint">{seconds(step.duration)}</span>
          {step.error_type && <span class="bad"> {plain(step.error_type)}</span>}
        </li>
      ))}
    </ol>
  );
}

const keyOf = ({ position, id }: ContextItem) => `${position} ${id}`;

const ITEMS: readonly Column<ContextItem>[] = [
  { head: "item", show: (item) => <ItemName item={item} /> },
  { head: "section", look: "name", show: ({ section }) => plain(section) },
  {
    head: "tokens",
    look: "count",
    show: (item) => estimated(count(item.tokens), item.tokens_estimated),
  },
  { head: "score", look: "count", show: ({ score }) => score !== null && fixed(score, 2) },
  { head: "why", show: ({ reason }) => <Line text={reason} /> },
];

function ItemName({ item }: { item: ContextItem }) {
  const way = [
    item.source && plain(item.source),
    item.hop ? counted(item.hop, "link") : "",
    item.requires_depth ? `requirement ${item.requires_depth}` : "",
  ].filter(Boolean);
  return (
    <>
      <span class={item.kept ? "good" : "bad"}>
        <Icon name={item.kept ? "check" : item.reason === "duplicate" ? "copy" : "x"} />
        <span class="hidden">{item.kept ? "kept" : "dropped"}</span>
      </span>{" "}
      <Line text={item.id} /> <span class="faint">{way.join(", ")}</span>
    </>
  );
}

function Outcomes({ item, project }: { item: string; project: string }) {
  const asked = useAsk("GET /api/context/outcomes", { item, project });
  return (
    <section aria-label="Outcomes">
      <h2>
        Turns that considered <Line text={item} />
      </h2>
      <Answered asked={asked} rows={2}>
        {({ outcomes }) => (
          <ul>
            {outcomes.map((one) => (
              <li key={`${one.kept} ${one.outcome}`}>
                {one.kept ? "kept" : "dropped"}: {plain(one.outcome)} {counted(one.turns, "turn")}
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </section>
  );
}

function Text({ assembly, chosen }: { assembly: AssembledContext; chosen?: ContextItem }) {
  const { text } = chosen ?? assembly;
  return (
    <section aria-label={chosen ? "Text of the item" : "Assembled text"}>
      <h2>{chosen ? <Line text={chosen.id} /> : "Assembled text"}</h2>
      {text === null ? (
        <Missing reason="The text is not recorded (capture is off, or it was pruned)." />
      ) : (
        <Written text={text} form="read" prose />
      )}
    </section>
  );
}
