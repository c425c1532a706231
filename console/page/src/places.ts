// Where a record is shown.
import { DEEPEST } from "./screens/lineage_rows";
import type { FoundRecord } from "./types";
import { to, withParams } from "./url";

/** The address of what an id means; `null` where no screen shows it. */
export function placeOf({ kind, id, project, session, experiment }: FoundRecord): string | null {
  const replay = session ? withParams(["s", project, session], { at: id }) : null;
  const turns = withParams(["turns"], { f: `${kind}:"${id.replaceAll('"', "")}"`, project });
  switch (kind) {
    case "session":
      return to("s", project, id);
    case "turn":
      return replay ?? turns;
    case "trace":
      return turns;
    case "call":
    case "context":
    case "consortium":
      return to(kind, project, id);
    case "tool":
    case "span":
      return replay;
    case "lineage":
    case "rollout":
    case "attempt":
    case "artifact":
      // As deep as the tree goes, for the row to be there.
      return experiment
        ? withParams(["lineage", project, experiment], { at: id, l: String(DEEPEST) })
        : replay;
    default:
      return null;
  }
}

interface Place {
  readonly project: string;
  readonly session: string;
  readonly trace_id?: string;
  readonly turn?: string;
}

/** The replay of a session; of a turn without one, that of its trace. */
export function replayOf({ project, session, trace_id = "", turn = "" }: Place): string {
  return withParams(["s", project, session], { at: turn, trace: session ? "" : trace_id });
}
