// Lineages: is it getting better, and what made it so?
import { useState } from "preact/hooks";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { useCursor } from "../parts/list";
import { count, counted, dollars, seconds, UNKNOWN, When } from "../parts/numbers";
import { openSql, RowsShown } from "../parts/rows_shown";
import { Sparkline } from "../parts/share";
import { Answered, Nothing } from "../parts/states";
import { Line, plain } from "../parts/text";
import type { ExperimentItem, ExperimentRecord, InsightRecord } from "../types";
import { address, go, param, setParams, withParams } from "../url";
import { useAsk } from "../use_ask";
import { Details } from "./lineage_details";
import { cyclesOf, DEEPEST, type Row, rowsOf } from "./lineage_rows";

export function Lineage() {
  const [, project = "", session = ""] = address.value.path;
  return session ? <Experiment project={project} session={session} /> : <Experiments />;
}

function Experiments() {
  const query = { project: param("project") };
  const asked = useAsk("GET /api/lineage/experiments", query);
  useStatus(commandLine(["lineage"], query));
  useKeys({ sql: openSql(asked.answer?.sql) });
  return (
    <>
      <h1>Experiments</h1>
      <Answered asked={asked}>
        {({ experiments }) =>
          experiments.length ? (
            <>
              <RowsShown name="experiments" sql={asked.answer?.sql} each={experiments} />
              <List experiments={experiments} />
            </>
          ) : (
            <Nothing title="No experiments here.">
              <p>
                A need and the lineages that were tried for it:{" "}
                <code>with turnspan.experiment(...)</code> records one.
              </p>
            </Nothing>
          )
        }
      </Answered>
    </>
  );
}

function List({ experiments }: { experiments: readonly ExperimentItem[] }) {
  const { at, move, body } = useCursor(experiments.map((one) => one.experiment));
  const chosen = experiments[at];
  const open = (one: ExperimentItem) => withParams(["lineage", one.project, one.experiment], {});
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    ...(chosen ? { open: () => go(open(chosen)) } : {}),
  });
  return (
    <table class="list" role="grid" aria-label="Experiments">
      <thead>
        <tr>
          <th>last worked on</th>
          <th>experiment</th>
          <th class="number">lineages</th>
          <th class="number">rollouts</th>
          <th class="number">cycle</th>
          <th>need</th>
        </tr>
      </thead>
      <tbody ref={body}>
        {experiments.map((one, index) => (
          <tr
            key={`${one.project} ${one.experiment}`}
            tabIndex={index === Math.max(at, 0) ? 0 : -1}
            aria-selected={index === at}
          >
            <td>
              <When time={one.last_time} />
            </td>
            <td class="name">
              <a href={open(one)} tabIndex={-1}>
                <Line text={one.experiment} />
              </a>
            </td>
            <td class="number">{count(one.lineages)}</td>
            <td class="number">{count(one.rollouts)}</td>
            <td class="number">{count(one.cycle)}</td>
            <td class="said">
              <Line text={one.need} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Experiment({ project, session }: { project: string; session: string }) {
  const asked = useAsk("GET /api/lineage", { session, project });
  useStatus(commandLine(["lineage", session], { project }));
  return (
    <>
      <h1>
        Experiment <Line text={session} />
      </h1>
      <Answered asked={asked}>{(shown) => <Tree shown={shown} />}</Answered>
    </>
  );
}

function Tree({ shown }: { shown: ExperimentRecord }) {
  const level = Number(param("l")) || 3;
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const every = rowsOf(shown);
  const parents = new Set(every.flatMap((row) => row.within.at(-1) ?? []));
  // A row is open by its level, unless somebody turned it.
  const levels = new Map(every.map((row) => [row.id, row.level]));
  const isOpen = (id: string) => (levels.get(id) ?? 0) < level !== turned.has(id);
  const rows = every.filter((row) => row.within.every(isOpen));
  const { at, move, body } = useCursor(rows.map((row) => row.id));
  const chosen = rows[at];
  const turn = (open: boolean) => {
    if (!chosen || !parents.has(chosen.id) || isOpen(chosen.id) === open) return false;
    const next = new Set(turned);
    if (!next.delete(chosen.id)) next.add(chosen.id);
    return setTurned(next);
  };
  const toLevel = (to: number) => {
    setTurned(new Set());
    setParams({ l: String(Math.max(1, Math.min(DEEPEST, to))) }, { replace: true });
  };
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    fold: () => turn(false),
    unfold: () => turn(true),
    less: () => toLevel(level - 1),
    more: () => toLevel(level + 1),
    ...(chosen
      ? {
          copyId: () => copy(chosen.own, `the ${chosen.kind}'s id`),
          ...(chosen.kind === "attempt" ? { open: () => go(attemptOf(chosen.id)) } : {}),
        }
      : {}),
  });
  return (
    <div class="lineage">
      <Need shown={shown} />
      <div class="judging">
        <table class="list" role="treegrid" aria-label="Lineages">
          <thead>
            <tr>
              <th>what</th>
              <th>ended</th>
              <th class="number">score</th>
              <th class="number">cost</th>
              <th class="number">took</th>
              <th class="number">tokens</th>
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((row, index) => (
              <tr
                key={row.id}
                tabIndex={index === Math.max(at, 0) ? 0 : -1}
                aria-selected={index === at}
                aria-level={row.level}
                aria-expanded={parents.has(row.id) ? isOpen(row.id) : undefined}
                onClick={() => move(index - at)}
              >
                <td>
                  <span class={`depth-${Math.min(row.level, DEEPEST)}`}>
                    <span aria-hidden="true">
                      {parents.has(row.id) ? (isOpen(row.id) ? "▾ " : "▸ ") : "· "}
                    </span>
                    <Name row={row} />
                  </span>
                </td>
                <Numbers row={row} />
              </tr>
            ))}
          </tbody>
        </table>
        <aside
          aria-label="Details"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with keys.
          tabIndex={0}
        >
          {chosen ? (
            <Details row={chosen} />
          ) : (
            <p class="faint">
              <kbd>j</kbd> <kbd>k</kbd> choose a row, <kbd>h</kbd> <kbd>l</kbd> fold it,{" "}
              <kbd>[</kbd> <kbd>]</kbd> all of them.
            </p>
          )}
        </aside>
      </div>
      <Insights insights={shown.insights} />
    </div>
  );
}

function attemptOf(id: string): string {
  return withParams(["go", id], {});
}

function Need({ shown }: { shown: ExperimentRecord }) {
  const cycles = [...cyclesOf(shown)];
  return (
    <p class="switches">
      {shown.need && (
        <span>
          need: <Line text={shown.need} />
        </span>
      )}
      {shown.constraints && (
        <span>
          constraints: <Line text={shown.constraints} />
        </span>
      )}
      {cycles.map(([cycle, ids]) => (
        <a
          key={cycle}
          href={withParams(["compare"], { ids: ids.slice(0, 6).join(","), project: shown.project })}
        >
          compare cycle {cycle}
        </a>
      ))}
    </p>
  );
}

function Name({ row }: { row: Row }) {
  switch (row.kind) {
    case "lineage":
      return (
        <>
          <strong>
            <Line text={row.one.label || row.own.slice(0, 8)} />
          </strong>{" "}
          {row.one.locked && <span class="good">■ locked </span>}
          <Line text={row.one.strategy} />{" "}
          <Sparkline values={row.one.versions.map((version) => version.score)} />
        </>
      );
    case "version":
      return (
        <>
          version <Line text={row.one.name || row.own.slice(0, 8)} />{" "}
          {row.one.changes.length > 0 && (
            <span class="faint">
              changed: <Line text={row.one.changes.map((change) => change.name).join(", ")} />
            </span>
          )}
        </>
      );
    case "rollout":
      return (
        <>
          cycle {row.one.cycle} <Line text={row.one.task} />{" "}
          <span class="faint">
            {row.one.attempts.length === 1 ? "1 try" : `${row.one.attempts.length} tries`}
          </span>
        </>
      );
    case "attempt":
      return (
        <>
          try {row.one.number} <Line text={row.one.model} />{" "}
          {row.one.final && <span class="good">counts</span>}
        </>
      );
    case "artifact":
      return (
        <>
          wrote <Line text={row.one.target} /> <span class="faint">{plain(row.one.kind)}</span>
        </>
      );
  }
}

function Numbers({ row }: { row: Row }) {
  const one = row.one;
  const score = row.kind === "lineage" ? null : "score" in one ? one.score : null;
  const costs = "cost_usd" in one ? dollars(one.cost_usd) : "";
  const took = "duration" in one ? seconds(one.duration) : "";
  const tokens =
    row.kind === "attempt" ? `${count(row.one.input_tokens)}→${count(row.one.output_tokens)}` : "";
  const status = "status" in one ? one.status : "";
  return (
    <>
      <td class={status === "failed" ? "bad" : status === "succeeded" ? "good" : undefined}>
        {status === "failed" && <span aria-hidden="true">✗ </span>}
        {status === "succeeded" && <span aria-hidden="true">✓ </span>}
        {plain(status)}
      </td>
      <td class="number">
        {row.kind === "lineage" ? "" : score === null ? UNKNOWN : score.toFixed(1)}
        {row.kind === "version" && row.one.judged > 1 && (
          <span class="faint" title={`of ${counted(row.one.judged, "judgment")}`}>
            {" "}
            ({row.one.judged})
          </span>
        )}
      </td>
      <td class="number">{costs}</td>
      <td class="number">{took}</td>
      <td class="number">{tokens}</td>
    </>
  );
}

function Insights({ insights }: { insights: readonly InsightRecord[] }) {
  if (!insights.length) return null;
  return (
    <section aria-label="Insights">
      <h2>Insights</h2>
      <table class="list">
        <thead>
          <tr>
            <th>pattern</th>
            <th>kind of change</th>
            <th class="number">held</th>
            <th class="number">missed</th>
            <th class="number">impact</th>
            <th class="number">confidence</th>
          </tr>
        </thead>
        <tbody>
          {insights.map((one) => (
            <tr key={one.insight_id}>
              <td>
                <Line text={one.pattern} />
              </td>
              <td>
                <Line text={one.change} />
              </td>
              <td class="number">{count(one.successes)}</td>
              <td class="number">{count(one.failures)}</td>
              <td class="number">
                {one.average_impact === null ? UNKNOWN : one.average_impact.toFixed(2)}
              </td>
              <td class="number">
                {one.confidence === null ? UNKNOWN : one.confidence.toFixed(2)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
