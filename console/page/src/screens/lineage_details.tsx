// What there is to say of one row of an experiment's tree.
import { Changed } from "../parts/marked";
import { count, UNKNOWN, When } from "../parts/numbers";
import { Missing } from "../parts/states";
import { Line, plain, Verbatim } from "../parts/text";
import type { AttemptRecord, EvolutionRecord, LineageRecord, VersionRecord } from "../types";
import type { Row } from "./lineage_rows";

export function Details({ row }: { row: Row }) {
  switch (row.kind) {
    case "lineage":
      return <OfLineage one={row.one} />;
    case "version":
      return <OfVersion one={row.one} of={row.of} />;
    case "attempt":
      return <OfAttempt one={row.one} />;
    default:
      return (
        <p class="faint">
          {row.kind} {plain(row.own)}
        </p>
      );
  }
}

function OfLineage({ one }: { one: LineageRecord }) {
  return (
    <section aria-label="The lineage">
      <h2>
        Lineage <Line text={one.label} />
      </h2>
      {one.evolve && <p>Its next version was asked for, and has not begun.</p>}
      {one.directive && (
        <p>
          directive: <Line text={one.directive} />
        </p>
      )}
      {one.once.map((said) => (
        <p key={said}>
          for the next one only: <Line text={said} />
        </p>
      ))}
      <ul class="said-before">
        {[...one.events].reverse().map((event) => (
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

function OfVersion({ one, of }: { one: VersionRecord; of: LineageRecord }) {
  const evolutions = of.evolutions.filter((evolution) => evolution.to_version === one.version_id);
  return (
    <section aria-label="The version">
      <h2>
        Version <Line text={one.name || one.version_id.slice(0, 8)} />
      </h2>
      <p class="faint">{plain(one.version_id)}</p>
      {evolutions.map((evolution) => (
        <Why key={evolution.evolution_id} one={evolution} />
      ))}
      {one.config === null && (
        <Missing reason="The configuration is not recorded (capture is off)." />
      )}
      {one.config !== null && one.made_from && one.changes.length === 0 && (
        <p>The same as before.</p>
      )}
      {one.changes.map((change) => (
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

function Why({ one }: { one: EvolutionRecord }) {
  const { score_delta: delta, hypothesis_validated: held } = one;
  return (
    <dl class="why">
      {(["trigger", "hypothesis", "plan"] as const).map(
        (name) =>
          one[name] && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Line text={one[name]} />
              </dd>
            </div>
          ),
      )}
      <div>
        <dt>score</dt>
        <dd>
          {one.from_score ?? UNKNOWN} → {one.next_score ?? UNKNOWN}
          {delta !== null && ` (${delta > 0 ? "+" : ""}${delta.toFixed(2)})`}{" "}
          {held === null ? (
            <span class="faint">not judged yet</span>
          ) : (
            <span class={held ? "good" : "bad"}>{held ? "✓ held" : "✗ did not hold"}</span>
          )}
        </dd>
      </div>
    </dl>
  );
}

function OfAttempt({ one }: { one: AttemptRecord }) {
  return (
    <section aria-label="The attempt">
      <h2>Try {count(one.number)}</h2>
      <p class="faint">{plain(one.attempt_id)}</p>
      {one.error_type && (
        <p class="bad">
          ✗ <Line text={`${one.error_type} ${one.error_message}`} />
        </p>
      )}
      {one.input && (
        <details open>
          <summary>Input</summary>
          <Verbatim text={one.input} />
        </details>
      )}
      {one.output ? (
        <details open>
          <summary>Output</summary>
          <Verbatim text={one.output} />
        </details>
      ) : (
        <Missing reason="No output is recorded (capture is off, or it failed)." />
      )}
    </section>
  );
}
