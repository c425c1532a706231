// Lineages: is it getting better, and what made it so?
import { useState } from "preact/hooks";
import { useStatus } from "../frame/status";
import { useKeys } from "../keys";
import { commandLine, copy } from "../parts/copy";
import { Icon, type IconName } from "../parts/icon";
import { useCursor } from "../parts/list";
import { ListScreen } from "../parts/list_screen";
import { count, counted, dollars, fixed, seconds, When } from "../parts/numbers";
import { Answered, Nothing, Scrolled } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { Line, plain } from "../parts/text";
import type { ExperimentItem, ExperimentRecord, InsightRecord } from "../types";
import { address, go, param, replaceParams, to, withParams } from "../url";
import { useAsk } from "../use_ask";
import { Details } from "./lineage_details";
import { Versions } from "./lineage_graph";
import { cyclesOf, DEEPEST, type Row, rowsOf } from "./lineage_rows";

export function Lineage() {
  const [, project = "", session = ""] = address.value.path;
  return session ? <Experiment project={project} session={session} /> : <Experiments />;
}

function Experiments() {
  const query = { project: param("project") };
  const asked = useAsk("GET /api/lineage/experiments", query);
  const experiments = asked.answer?.experiments ?? [];
  return (
    <>
      <h1>Experiments</h1>
      <ListScreen
        command={commandLine(["lineage"], query)}
        noun="experiment"
        asked={asked}
        rows={experiments}
        empty={
          <Nothing title="No experiments here.">
            <p>
              <code>with turnspan.experiment(...)</code> records a need and the lineages tried for
              it.
            </p>
          </Nothing>
        }
      >
        <Grid experiments={experiments} />
      </ListScreen>
    </>
  );
}

const placeOf = ({ project, experiment }: ExperimentItem) => to("lineage", project, experiment);

const EXPERIMENTS: readonly Column<ExperimentItem>[] = [
  { head: "last active", show: ({ last_time }) => <When time={last_time} /> },
  {
    head: "experiment",
    look: "name",
    show: (row) => (
      <a href={placeOf(row)} tabIndex={-1}>
        <Line text={row.experiment} />
      </a>
    ),
  },
  { head: "lineages", look: "count", show: ({ lineages }) => count(lineages) },
  { head: "rollouts", look: "count", show: ({ rollouts }) => count(rollouts) },
  { head: "cycle", look: "count", show: ({ cycle }) => count(cycle) },
  { head: "need", look: "said", show: ({ need }) => <Line text={need} /> },
];

const keyOf = ({ project, experiment }: ExperimentItem) => `${project} ${experiment}`;

function Grid({ experiments }: { experiments: readonly ExperimentItem[] }) {
  const cursor = useCursor(experiments, keyOf);
  const chosen = experiments[cursor.at];
  useKeys({ open: chosen && (() => go(placeOf(chosen))) });
  return (
    <Table
      label="Experiments"
      columns={EXPERIMENTS}
      rows={experiments}
      keyOf={keyOf}
      cursor={cursor}
    />
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
  const cursor = useCursor(rows, ({ id }) => id);
  const chosen = rows[cursor.at];
  const turn = (open: boolean) => {
    if (!chosen || !parents.has(chosen.id) || isOpen(chosen.id) === open) return false;
    const next = new Set(turned);
    if (!next.delete(chosen.id)) next.add(chosen.id);
    return setTurned(next);
  };
  const toLevel = (to: number) => {
    setTurned(new Set());
    replaceParams({ l: String(Math.max(1, Math.min(DEEPEST, to))) });
  };
  useKeys({
    fold: () => turn(false),
    unfold: () => turn(true),
    less: () => toLevel(level - 1),
    more: () => toLevel(level + 1),
    copyId: chosen && (() => copy(chosen.own, `the ${chosen.kind}'s id`)),
    open: chosen?.kind === "attempt" && (() => go(to("go", chosen.id))),
  });
  const name: Column<Row> = {
    head: "lineage, version, cycle",
    show: (row) => (
      <span class="depth" style={{ "--depth": String(Math.min(row.level, DEEPEST) - 1) }}>
        {parents.has(row.id) ? (
          <Icon name={isOpen(row.id) ? "chevron-down" : "chevron-right"} />
        ) : (
          <span class="icon" />
        )}{" "}
        <Name row={row} />
      </span>
    ),
  };
  return (
    <div class="lineage">
      <Need shown={shown} />
      <Versions shown={shown} chosen={chosen?.id ?? ""} reveal={() => setTurned(new Set())} />
      <div class="judging">
        <Table
          label="Lineages"
          role="treegrid"
          columns={[name, ...NUMBERS]}
          rows={rows}
          keyOf={({ id }) => id}
          cursor={cursor}
          clicks
          attributes={({ id, level }) => ({
            "aria-level": level,
            "aria-expanded": parents.has(id) ? isOpen(id) : undefined,
          })}
        />
        <Scrolled aside label="Details">
          {chosen ? (
            <Details row={chosen} />
          ) : (
            <p class="faint">
              Press <kbd>j</kbd> or <kbd>k</kbd> to choose a row, <kbd>h</kbd> or <kbd>l</kbd> to
              fold it, <kbd>[</kbd> or <kbd>]</kbd> to fold all.
            </p>
          )}
        </Scrolled>
      </div>
      <Insights insights={shown.insights} />
    </div>
  );
}

function Need({ shown }: { shown: ExperimentRecord }) {
  const cycles = [...cyclesOf(shown)];
  return (
    <p class="switches">
      {(["need", "constraints"] as const).map(
        (name) =>
          shown[name] && (
            <span key={name}>
              {name}: <Line text={shown[name]} />
            </span>
          ),
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
            <Line text={row.record.label || row.own.slice(0, 8)} />
          </strong>{" "}
          {row.record.locked && (
            <span class="good">
              <Icon name="lock" /> locked{" "}
            </span>
          )}
          <Line text={row.record.strategy} />
        </>
      );
    case "version":
      return (
        <>
          version <Line text={row.record.name || row.own.slice(0, 8)} />{" "}
          {row.record.changes.length > 0 && (
            <span class="faint">
              changed: <Line text={row.record.changes.map((change) => change.name).join(", ")} />
            </span>
          )}
        </>
      );
    case "rollout":
      return (
        <>
          cycle {row.record.cycle} <Line text={row.record.task} />{" "}
          {row.record.attempts.length > 1 && (
            <span class="faint">{row.record.attempts.length} tries</span>
          )}
        </>
      );
    case "attempt":
      return (
        <>
          try {row.record.number} <Line text={row.record.model} />{" "}
          {row.record.final && <span class="good">counts</span>}
        </>
      );
    case "artifact":
      return (
        <>
          wrote <Line text={row.record.target} />{" "}
          <span class="faint">{plain(row.record.kind)}</span>
        </>
      );
  }
}

const STATUSES: Readonly<Record<string, readonly [string, IconName]>> = {
  failed: ["bad", "circle-x"],
  succeeded: ["good", "circle-check"],
};

function Status({ status }: { status: string }) {
  const [tone, icon] = STATUSES[status] ?? [];
  return (
    <span class={`end ${tone ?? ""}`}>
      {icon && <Icon name={icon} />} {plain(status)}
    </span>
  );
}

function Score({ row }: { row: Row }) {
  if (row.kind === "lineage") return null;
  return (
    <>
      {fixed("score" in row.record ? row.record.score : null, 1)}
      {row.kind === "version" && row.record.judged > 1 && (
        <span class="faint" title={`mean of ${counted(row.record.judged, "judgment")}`}>
          {" "}
          ({row.record.judged})
        </span>
      )}
    </>
  );
}

const NUMBERS: readonly Column<Row>[] = [
  { head: "ended", show: ({ record }) => "status" in record && <Status status={record.status} /> },
  { head: "score", look: "count", show: (row) => <Score row={row} /> },
  {
    head: "cost",
    look: "number",
    show: ({ record }) =>
      "cost_usd" in record && record.cost_usd !== null && dollars(record.cost_usd),
  },
  {
    head: "duration",
    look: "number",
    show: ({ record }) => "duration" in record && seconds(record.duration),
  },
  {
    head: "tokens",
    look: "count",
    show: ({ kind, record }) =>
      kind === "attempt" &&
      record.input_tokens !== null &&
      `${count(record.input_tokens)} in, ${count(record.output_tokens)} out`,
  },
];

const INSIGHTS: readonly Column<InsightRecord>[] = [
  { head: "pattern", show: ({ pattern }) => <Line text={pattern} /> },
  { head: "kind of change", show: ({ change }) => <Line text={change} /> },
  { head: "as expected", look: "count", show: ({ successes }) => count(successes) },
  { head: "not as expected", look: "count", show: ({ failures }) => count(failures) },
  { head: "impact", look: "count", show: ({ average_impact }) => fixed(average_impact, 2) },
  {
    head: "confidence",
    look: "count",
    show: ({ confidence }) => confidence !== null && fixed(confidence, 2),
  },
];

function Insights({ insights }: { insights: readonly InsightRecord[] }) {
  if (!insights.length) return null;
  return (
    <section aria-label="Insights">
      <h2>Insights</h2>
      <Table columns={INSIGHTS} rows={insights} keyOf={({ insight_id }) => insight_id} />
    </section>
  );
}
