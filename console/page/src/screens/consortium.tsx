// Consortium runs: who said what in which iteration, and what the arbiter made of it.
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { Command, commandLine, copy } from "../parts/copy";
import { End } from "../parts/end";
import { Icon } from "../parts/icon";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import {
  count,
  counted,
  dollars,
  fixed,
  percent,
  seconds,
  tokensUsed,
  UNKNOWN,
  When,
} from "../parts/numbers";
import { Answered, Missing, Nothing, Scrolled } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { Failure, Folded, Line, plain } from "../parts/text";
import { Written } from "../reading/written";
import type {
  ConsortiumRun,
  Decision as DecisionMade,
  MemberAnswer,
  Iteration as Round,
  RunRow,
} from "../types";
import { address, go, to, windowQuery, withParams } from "../url";
import { useAsk } from "../use_ask";

export function Consortium() {
  const [, project = "", run = ""] = address.value.path;
  return run ? <OneRun project={project} run={run} /> : <Runs />;
}

function Runs() {
  const query = windowQuery();
  const asked = useAsk("GET /api/consortium", query);
  const runs = asked.answer?.runs ?? [];
  return (
    <>
      <h1>Consortium runs</h1>
      <ListScreen
        command={commandLine(["consortium"], query)}
        noun="run"
        asked={asked}
        rows={runs}
        empty={
          <Nothing title="No consortium runs here.">
            <p>
              <code>turnspan.consortium(...)</code> records a run of several models and an arbiter;{" "}
              <code>turnspan import llm</code> imports those of llm-consortium.
            </p>
          </Nothing>
        }
      >
        <Grid runs={runs} />
      </ListScreen>
    </>
  );
}

const placeOf = ({ project, run }: RunRow) => to("consortium", project, run);

const COLUMNS: readonly Column<RunRow>[] = [
  { head: "time", show: ({ time }) => <When time={time} /> },
  {
    head: "run",
    show: (run) => (
      <a href={placeOf(run)} tabIndex={-1}>
        <Line text={run.name || run.run.slice(0, 12)} />
      </a>
    ),
  },
  { head: "ended", show: ({ status, error }) => <Ended status={status} error={error} /> },
  { head: "iterations", look: "count", show: ({ iterations }) => count(iterations) },
  { head: "members", look: "count", show: ({ members }) => count(members) },
  { head: "confidence", look: "count", show: ({ confidence }) => fixed(confidence, 2) },
  { head: "agreement", look: "count", show: ({ agreement }) => fixed(agreement, 2) },
  { head: "cost", look: "number", show: ({ cost_usd }) => dollars(cost_usd) },
  { head: "duration", look: "number", show: ({ duration }) => seconds(duration) },
  { head: "winner", show: ({ winner }) => <Line text={winner} /> },
];

const keyOf = ({ run }: RunRow) => run;

function Grid({ runs }: { runs: readonly RunRow[] }) {
  const cursor = useCursor(runs, keyOf);
  const chosen = runs[cursor.at];
  useKeys({
    open: chosen && (() => go(placeOf(chosen))),
    copyId: chosen && (() => copy(chosen.run, "the run's id")),
  });
  return (
    <Table label="Consortium runs" columns={COLUMNS} rows={runs} keyOf={keyOf} cursor={cursor} />
  );
}

function Ended({ status, error }: { status: string; error: string }) {
  if (status !== "finished") return <End end={status} title={error} />;
  return (
    <span class="end good">
      <Icon name="circle-check" /> {status}
    </span>
  );
}

function OneRun({ project, run }: { project: string; run: string }) {
  const asked = useAsk("GET /api/consortium/run", { run, project });
  useStatus(commandLine(["consortium", run]));
  return (
    <>
      <h1>
        Consortium run <Line text={asked.answer?.name || run.slice(0, 12)} />
      </h1>
      <Answered asked={asked}>{(whole) => <Whole run={whole} />}</Answered>
    </>
  );
}

function Whole({ run }: { run: ConsortiumRun }) {
  useKeys({
    copyId: () => copy(run.consortium_id, "the run's id"),
    up: run.session_id && (() => go(to("s", run.project, run.session_id))),
  });
  const last = run.iterations.at(-1)?.decisions.at(-1);
  const verbatim = last?.synthesis === run.final_text;
  const confidences = run.iterations.map((one) => fixed(one.decisions.at(-1)?.confidence, 2));
  return (
    <div class="consortium">
      <p class="switches">
        <Ended status={run.status} error={run.error_type} />
        <span>{counted(run.iterations.length, "iteration")}</span>
        <span>confidence {confidences.join(", then ") || UNKNOWN}</span>
        <span>agreement {percent(run.agreement)}</span>
        <span>{counted(run.calls, "call")}</span>
        {run.input_tokens !== null && (
          <span>{tokensUsed(run.input_tokens, run.output_tokens)}</span>
        )}
        {run.cost_usd !== null && <span>{dollars(run.cost_usd)}</span>}
        <span>{seconds(run.duration)}</span>
        {run.longest_member && (
          <span class="faint">
            slowest member: <Line text={run.longest_member} /> {seconds(run.longest_member_seconds)}
          </span>
        )}
        {run.outer_id && (
          <a href={to("consortium", run.project, run.outer_id)}>
            Open the run that it is a member of
          </a>
        )}
      </p>
      <Grouped run={run} />
      {run.error_message && (
        <p class="bad">
          <Icon name="circle-x" /> {plain(run.error_message)}
        </p>
      )}
      <details open={run.prompt.length < 600}>
        <summary>Prompt</summary>
        <Said text={run.prompt} missing={unrecorded("The prompt")} />
      </details>
      {run.iterations.map((iteration) => (
        <Iteration key={iteration.number} iteration={iteration} project={run.project} />
      ))}
      <section aria-label="Output">
        <h2>Output {run.winner && <Line text={`(${run.winner})`} />}</h2>
        {last?.synthesis && run.final_text && (
          <p class={verbatim ? "good" : "warn"}>
            <Icon name={verbatim ? "check" : "triangle-alert"} />{" "}
            {verbatim
              ? "the arbiter's synthesis, word for word"
              : "not the arbiter's last synthesis"}
          </p>
        )}
        <Said text={run.final_text} missing={unrecorded("The output")} />
      </section>
      {run.other_calls.length > 0 && (
        <p class="faint">
          {counted(run.other_calls.length, "call")} without a known member:{" "}
          {run.other_calls.map((call) => (
            <a key={call} href={to("call", run.project, call)}>
              {call.slice(0, 8)}{" "}
            </a>
          ))}
        </p>
      )}
    </div>
  );
}

/** How it is known what belongs to the run. */
function Grouped({ run }: { run: ConsortiumRun }) {
  if (run.source !== "import") return null;
  const ambiguous = run.other_calls.length;
  return (
    <p class="faint">
      Grouped from an imported log of llm
      {run.grouped_by.length > 0 && `, by ${run.grouped_by.map(plain).join(", ")}`}
      {run.missing > 0 && `; ${counted(run.missing, "row")} not found`}
      {ambiguous > 0 && `; ${counted(ambiguous, "call")} without a place, listed below`}. This
      command lists the keys of its rows, and what is ambiguous:{" "}
      <Command line="turnspan consortium group FILE" />
    </p>
  );
}

/** What people and models said, or the reason why it is not there. */
function Said({ text, missing }: { text: string; missing: string }) {
  return text ? <Written text={text} form="read" prose /> : <Missing reason={missing} />;
}

function unrecorded(what: string): string {
  return `${what} is not recorded (capture is off, or there was none).`;
}

function Iteration(props: { iteration: Round; project: string }) {
  const { iteration, project } = props;
  const decision = iteration.decisions.at(-1);
  const calls = iteration.members.flatMap((member) => member.calls.at(-1) ?? []).slice(0, 6);
  return (
    <section aria-label={`Iteration ${iteration.number}`}>
      <h2>
        Iteration {iteration.number}{" "}
        {calls.length > 1 && (
          <a href={withParams(["compare"], { ids: calls.join(","), project })}>
            Compare the answers
          </a>
        )}
      </h2>
      <div class="side">
        {iteration.members.map((member) => (
          <Member
            key={member.id}
            member={member}
            rank={decision ? decision.ranking.indexOf(member.label) + 1 : 0}
            project={project}
            iteration={iteration.number}
          />
        ))}
      </div>
      {iteration.decisions.map((one, at) => (
        <Decision key={one.id} decision={one} counts={at === iteration.decisions.length - 1} />
      ))}
    </section>
  );
}

interface MemberProps {
  member: MemberAnswer;
  rank: number;
  project: string;
  iteration: number;
}

function Member({ member, rank, project, iteration }: MemberProps) {
  const [call] = member.calls;
  const facts = [
    member.won ? "won" : "",
    member.cost_usd === null ? "" : dollars(member.cost_usd),
    seconds(member.duration),
    member.input_tokens === null ? "" : tokensUsed(member.input_tokens, member.output_tokens),
  ];
  return (
    <div class="column">
      <header>
        <span class="facts-line">
          <strong>
            <Line text={member.label} />
          </strong>{" "}
          {rank > 0 && (
            <>
              <span class={member.won ? "good" : undefined}>rank {rank}</span>
              {" · "}
            </>
          )}
          {facts.filter(Boolean).join(" · ")}
          {call && (
            <>
              {" · "}
              <a href={to("call", project, call)}>Open the call</a>
            </>
          )}
          {member.inner_run && (
            <>
              {" · "}
              <a href={to("consortium", project, member.inner_run)}>Open its own run</a>
            </>
          )}
        </span>
      </header>
      <Scrolled look="answer" label={`Answer of ${plain(member.label)} in iteration ${iteration}`}>
        {member.error_type ? (
          <Failure of={member} />
        ) : (
          <Said text={member.answer} missing={unrecorded("The answer")} />
        )}
      </Scrolled>
    </div>
  );
}

function Decision({ decision, counts }: { decision: DecisionMade; counts: boolean }) {
  return (
    <div class="decision">
      <p>
        <strong>Arbiter</strong> <Line text={decision.model} /> ·{" "}
        {decision.confidence !== null && `confidence ${fixed(decision.confidence, 2)} · `}
        {decision.cost_usd !== null && `${dollars(decision.cost_usd)} · `}
        {seconds(decision.duration)}
        {decision.needs_iteration !== null &&
          (decision.needs_iteration ? " · asks for another iteration" : " · final")}
        {!counts && <span class="warn"> · superseded</span>}
      </p>
      <Failure of={decision} />
      {decision.ranking.length > 0 && (
        <p>
          Ranking, best first: <Line text={decision.ranking.join(", ")} />
        </p>
      )}
      {decision.refinement_areas.length > 0 && (
        <p>
          To refine: <Line text={decision.refinement_areas.join("; ")} />
        </p>
      )}
      <Folded title="Reasoning" text={decision.reasoning} />
      <Folded title="Synthesis" text={decision.synthesis} />
    </div>
  );
}
