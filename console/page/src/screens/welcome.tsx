// An empty store: three ways to its first record, and a word when that arrives.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import { Command, copy } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { Answered, Nothing, Problem } from "../parts/states";
import { plain, visible } from "../parts/text";
import type { FirstRecords } from "../types";
import { windowQuery, withParams } from "../url";
import { askAgain, useAsk } from "../use_ask";

const OFTEN = 2_000;
const SOMETIMES = 10_000;

/** No turn in the chosen time; without any record in the store, how to make the first. */
export function Empty() {
  const { answer, stale } = useAsk("GET /api/store", {});
  if (answer === null) return null;
  if (answer.projects.length === 0 && !stale) return <Welcome />;
  const { project = "", since = "", until = "" } = windowQuery();
  return (
    <Nothing title="No turns in this time." heading>
      <p>
        {project && `The project ${plain(project)} has none`}
        {project ? " in this time." : "The store has older or newer ones."}{" "}
        {(project || since || until) && (
          <a href={withParams([], { project: "", since: "", until: "" })}>
            Show all projects and all times
          </a>
        )}
      </p>
    </Nothing>
  );
}

/** Three ways to the first record. Every two seconds the store is asked whether it is there. */
export function Welcome({ reason = "" }: { reason?: string }) {
  const ways = useAsk("GET /api/first-records", {});
  const again = useRef(ways.again);
  again.current = ways.again;
  useEffect(() => {
    const timers = [
      setInterval(() => !document.hidden && void arrived(), OFTEN),
      setInterval(() => !document.hidden && again.current(), SOMETIMES),
    ];
    return () => {
      timers.forEach(clearInterval);
    };
  }, []);
  return (
    <section class="welcome" aria-labelledby="welcome">
      <h1 id="welcome">Nothing is recorded yet</h1>
      <p class="arrival" role="status">
        <span class="pulse" aria-hidden="true" /> Waiting for the first record. This page shows it
        when it arrives.
      </p>
      <Answered asked={ways} rows={6}>
        {(answer) => (
          <div class="ways">
            <Demo problem={answer.demo_problem} />
            <Code store={answer.store} />
            <Otlp answer={answer} />
          </div>
        )}
      </Answered>
      {reason && <p class="faint">{visible(reason)}</p>}
    </section>
  );
}

/** Says it once, and shows the records, when what was empty has some. */
async function arrived(): Promise<void> {
  try {
    const first = (await ask("GET /api/store", {})).answer.projects[0];
    if (first === undefined) return;
    announce(`The first record has arrived, in project ${plain(first)}`);
    askAgain();
  } catch {
    // The store is not there yet, or cannot be asked: then the frame says so.
  }
}

interface WayProps {
  icon: IconName;
  title: string;
  children: ComponentChildren;
}

function Way({ icon, title, children }: WayProps) {
  return (
    <section class="panel way">
      <h2>
        <Icon name={icon} /> {title}
      </h2>
      {children}
    </section>
  );
}

// Of the page, not of the screen: while the demo makes the store, the screen comes anew.
const playing = signal(false);
const refusal = signal("");

async function play(): Promise<void> {
  playing.value = true;
  refusal.value = "";
  try {
    await ask("POST /api/first-records/demo", {});
    await arrived();
    setTimeout(() => (playing.value = false), OFTEN); // when its records are shown instead
  } catch (error) {
    refusal.value = asRefusal(error).message;
    playing.value = false;
  }
}

function Demo({ problem }: { problem: string }) {
  return (
    <Way icon="play" title="Play the demo">
      <p>
        Twelve recorded agent runs are played through the real OpenAI and Anthropic SDKs, against a
        model server on this machine. No key, no account.
      </p>
      {problem ? (
        <p>{plain(problem)}</p>
      ) : (
        <button type="button" class="primary" disabled={playing.value} onClick={() => void play()}>
          {playing.value ? "Playing the demo …" : "Play the demo into this store"}
        </button>
      )}
      {refusal.value && <Problem message={refusal.value} />}
      <p class="faint">
        Or into a store of its own: <Command line="turnspan demo --open" />
      </p>
    </Way>
  );
}

function Code({ store }: { store: string }) {
  const lines = [
    "import turnspan",
    "turnspan.configure(",
    `    store=${JSON.stringify(store)},`,
    ")",
    "turnspan.instrument()",
  ].join("\n");
  return (
    <Way icon="terminal" title="Record your own program">
      <p>Put these lines where the program starts, and run it:</p>
      <pre class="lines">{plain(lines)}</pre>
      <button type="button" onClick={() => void copy(lines, "the lines")}>
        <Icon name="copy" /> Copy the lines
      </button>
      {store.includes("@") && (
        <p class="faint">
          The password of the store goes into <code>TURNSPAN_STORE_PASSWORD</code>.
        </p>
      )}
      <p class="faint">
        In the program's folder, this shows where they go: <Command line="turnspan init" />
      </p>
    </Way>
  );
}

function Otlp({ answer }: { answer: FirstRecords }) {
  const reached = answer.otlp.find((one) => !one.problem) ?? answer.otlp[0];
  return (
    <Way icon="radio" title="Send spans over OTLP">
      {reached ? (
        <>
          <p>For agents in any language. Set this where the agent runs:</p>
          <Command line={`export OTEL_EXPORTER_OTLP_ENDPOINT=${reached.endpoint}`} />
          <p class={reached.problem ? "warn" : "good"}>
            <Icon name={reached.problem ? "circle-x" : "circle-check"} />{" "}
            {reached.problem
              ? `${plain(reached.endpoint)}: ${plain(reached.problem)}.`
              : "Tested: it takes spans for this store."}
          </p>
        </>
      ) : (
        <>
          <p>
            For agents in any language. Nothing takes OTLP for this store on this machine. Start it:
          </p>
          <Command line={`turnspan receive --store ${answer.store}`} />
        </>
      )}
    </Way>
  );
}
