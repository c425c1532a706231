// What there is to say of one row of an experiment's tree.
import { Icon } from "../parts/icon";
import { Id } from "../parts/id";
import { Changed } from "../parts/marked";
import { count, When } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Failure, Folded, Line, plain } from "../parts/text";
import type { AttemptRecord, EvolutionRecord, LineageRecord, VersionRecord } from "../types";
import type { Row } from "./lineage_rows";

export function Details({ row }: { row: Row }) {
  switch (row.kind) {
    case "lineage":
      return <OfLineage lineage={row.record} />;
    case "version":
      return <OfVersion version={row.record} of={row.of} />;
    case "attempt":
      return <OfAttempt attempt={row.record} />;
    default:
      return (
        <p class="faint">
          {row.kind} {plain(row.own)}
        </p>
      );
  }
}

function OfLineage({ lineage }: { lineage: LineageRecord }) {
  return (
    <section aria-label="The lineage">
      <h2>
        Lineage <Line text={lineage.label} />
      </h2>
      {lineage.evolve && <p>The next version is requested but not started.</p>}
      {lineage.directive && (
        <p>
          Directive: <Line text={lineage.directive} />
        </p>
      )}
      {lineage.once.map((directive) => (
        <p key={directive}>
          For the next version only: <Line text={directive} />
        </p>
      ))}
      <ul class="said-before">
        {[...lineage.events].reverse().map((event) => (
          <li key={`${event.created_at} ${event.kind} ${event.text}`}>
            {plain(event.kind)} <Line text={event.text} />{" "}
            <span class="faint">
              <Line text={event.author} /> <When time={event.created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function OfVersion({ version, of }: { version: VersionRecord; of: LineageRecord }) {
  const evolutions = of.evolutions.filter(
    (evolution) => evolution.to_version === version.version_id,
  );
  return (
    <section aria-label="The version">
      <h2>
        Version <Line text={version.name || version.version_id.slice(0, 8)} />
      </h2>
      <p>
        <Id id={version.version_id} what="version" />
      </p>
      {evolutions.map((evolution) => (
        <Why key={evolution.evolution_id} evolution={evolution} />
      ))}
      {version.config === null && (
        <Missing reason="The configuration is not recorded (capture is off)." />
      )}
      {version.config !== null && version.made_from && version.changes.length === 0 && (
        <p>Unchanged.</p>
      )}
      {version.changes.map((change) => (
        <div key={change.name}>
          <strong>
            <Line text={change.name} />
          </strong>
          {change.before === null && <span class="faint"> new</span>}
          {change.after === null && <span class="faint"> gone</span>}
          <Changed before={change.before ?? ""} after={change.after ?? ""} />
        </div>
      ))}
    </section>
  );
}

function Why({ evolution }: { evolution: EvolutionRecord }) {
  const { score_delta: delta, hypothesis_validated: held } = evolution;
  return (
    <dl class="why">
      {(["trigger", "hypothesis", "plan"] as const).map(
        (name) =>
          evolution[name] && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Line text={evolution[name]} />
              </dd>
            </div>
          ),
      )}
      <div>
        <dt>score</dt>
        <dd>
          {evolution.from_score ?? "none"}, then {evolution.next_score ?? "none yet"}
          {delta !== null && ` (${delta > 0 ? "+" : ""}${delta.toFixed(2)})`}{" "}
          {held === null ? (
            <span class="faint">not judged yet</span>
          ) : (
            <span class={held ? "good" : "bad"}>
              <Icon name={held ? "check" : "x"} /> {held ? "as expected" : "not as expected"}
            </span>
          )}
        </dd>
      </div>
    </dl>
  );
}

function OfAttempt({ attempt }: { attempt: AttemptRecord }) {
  return (
    <section aria-label="The attempt">
      <h2>Try {count(attempt.number)}</h2>
      <p>
        <Id id={attempt.attempt_id} what="try" />
      </p>
      <Failure of={attempt} />
      <Folded title="Input" text={attempt.input ?? ""} open />
      <Folded title="Output" text={attempt.output ?? ""} open />
      {!attempt.output && (
        <Missing reason="No output is recorded (capture is off, or it failed)." />
      )}
    </section>
  );
}
