// The rows of an experiment's tree: lineage, version, rollout, attempt, artifact.
import type {
  ArtifactRecord,
  AttemptRecord,
  ExperimentRecord,
  LineageRecord,
  RolloutRecord,
  VersionRecord,
} from "../types";

export type Row = {
  readonly id: string;
  /** The record's own id. */
  readonly own: string;
  readonly level: number;
  readonly within: readonly string[];
} & (
  | { readonly kind: "lineage"; readonly record: LineageRecord }
  | { readonly kind: "version"; readonly record: VersionRecord; readonly of: LineageRecord }
  | { readonly kind: "rollout"; readonly record: RolloutRecord }
  | { readonly kind: "attempt"; readonly record: AttemptRecord }
  | { readonly kind: "artifact"; readonly record: ArtifactRecord }
);

export const DEEPEST = 5;

export function rowsOf(experiment: ExperimentRecord): Row[] {
  return experiment.lineages.flatMap((record) => [
    {
      id: record.lineage_id,
      own: record.lineage_id,
      level: 1,
      within: [],
      kind: "lineage" as const,
      record,
    },
    ...record.versions.flatMap((version) => ofVersion(version, record)),
    ...record.artifacts.map((artifact) => ofArtifact(artifact, [record.lineage_id])),
  ]);
}

function ofVersion(version: VersionRecord, lineage: LineageRecord): Row[] {
  // One version may be in several lineages.
  const own = version.version_id;
  const id = `${lineage.lineage_id} ${own}`;
  const within = [lineage.lineage_id];
  return [
    { id, own, level: 2, within, kind: "version", record: version, of: lineage },
    ...rolloutsOf(version, lineage).flatMap((rollout) => ofRollout(rollout, [...within, id])),
  ];
}

function rolloutsOf(version: VersionRecord, lineage: LineageRecord): RolloutRecord[] {
  return lineage.rollouts.filter((rollout) => rollout.version_id === version.version_id);
}

function ofRollout(rollout: RolloutRecord, within: readonly string[]): Row[] {
  const id = rollout.rollout_id;
  const inside = [...within, id];
  return [
    { id, own: id, level: 3, within, kind: "rollout", record: rollout },
    ...rollout.attempts.flatMap((attempt) => ofAttempt(attempt, inside)),
  ];
}

function ofAttempt(attempt: AttemptRecord, within: readonly string[]): Row[] {
  const id = attempt.attempt_id;
  return [
    { id, own: id, level: 4, within, kind: "attempt", record: attempt },
    ...attempt.artifacts.map((artifact) => ofArtifact(artifact, [...within, id])),
  ];
}

function ofArtifact(record: ArtifactRecord, within: readonly string[]): Row {
  const id = record.artifact_id;
  return { id, own: id, level: within.length + 1, within, kind: "artifact", record };
}

/** The ids of the rollouts of each cycle that has several, which can be compared. */
export function cyclesOf(experiment: ExperimentRecord): Map<number, string[]> {
  const cycles = new Map<number, string[]>();
  for (const lineage of experiment.lineages) {
    for (const version of lineage.versions) {
      for (const { cycle, rollout_id } of rolloutsOf(version, lineage)) {
        cycles.set(cycle, [...(cycles.get(cycle) ?? []), rollout_id]);
      }
    }
  }
  return new Map([...cycles].filter(([, ids]) => ids.length > 1).sort(([a], [b]) => a - b));
}
