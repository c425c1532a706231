// The rows of an experiment's tree: lineage, version, rollout, attempt, artifact.
import type {
  ArtifactShown,
  AttemptShown,
  ExperimentShown,
  LineageShown,
  RolloutShown,
  VersionShown,
} from "../types";

export type Row = {
  readonly id: string;
  readonly level: number;
  readonly within: readonly string[];
} & (
  | { readonly kind: "lineage"; readonly one: LineageShown }
  | { readonly kind: "version"; readonly one: VersionShown; readonly of: LineageShown }
  | { readonly kind: "rollout"; readonly one: RolloutShown }
  | { readonly kind: "attempt"; readonly one: AttemptShown }
  | { readonly kind: "artifact"; readonly one: ArtifactShown }
);

export const DEEPEST = 5;

export function rowsOf(experiment: ExperimentShown): Row[] {
  return experiment.lineages.flatMap((one) => [
    { id: one.id, level: 1, within: [], kind: "lineage" as const, one },
    ...one.versions.flatMap((version) => ofVersion(version, one)),
    ...one.artifacts.map((artifact) => ofArtifact(artifact, [one.id])),
  ]);
}

function ofVersion(version: VersionShown, lineage: LineageShown): Row[] {
  // One version may be in several lineages.
  const id = `${lineage.id} ${version.id}`;
  const within = [lineage.id];
  return [
    { id, level: 2, within, kind: "version", one: version, of: lineage },
    ...version.rollouts.flatMap((rollout) => ofRollout(rollout, [...within, id])),
  ];
}

function ofRollout(rollout: RolloutShown, within: readonly string[]): Row[] {
  const inside = [...within, rollout.id];
  return [
    { id: rollout.id, level: 3, within, kind: "rollout", one: rollout },
    ...rollout.attempts.flatMap((attempt) => [
      { id: attempt.id, level: 4, within: inside, kind: "attempt" as const, one: attempt },
      ...attempt.artifacts.map((artifact) => ofArtifact(artifact, [...inside, attempt.id])),
    ]),
  ];
}

function ofArtifact(one: ArtifactShown, within: readonly string[]): Row {
  return { id: one.id, level: within.length + 1, within, kind: "artifact", one };
}

/** The ids of the rollouts of each cycle that has several, which can be compared. */
export function cyclesOf(experiment: ExperimentShown): Map<number, string[]> {
  const cycles = new Map<number, string[]>();
  for (const lineage of experiment.lineages) {
    for (const version of lineage.versions) {
      for (const { cycle, id } of version.rollouts) {
        cycles.set(cycle, [...(cycles.get(cycle) ?? []), id]);
      }
    }
  }
  return new Map([...cycles].filter(([, ids]) => ids.length > 1).sort(([a], [b]) => a - b));
}
