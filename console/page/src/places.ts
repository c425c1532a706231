// Where a record is shown.
import { SCREENS } from "./screens";
import { DEEPEST } from "./screens/lineage_rows";
import type { FoundRecord } from "./types";
import { withParams } from "./url";

const shows = (name: string) => SCREENS.some((screen) => screen.name === name);

/** The address of what an id means; `null` where no screen shows it. */
export function placeOf(found: FoundRecord): string | null {
  const { kind, id, project, session, experiment } = found;
  const replay = (at: string) =>
    session && shows("s") ? withParams(["s", project, session], { at }) : null;
  switch (kind) {
    case "session":
      return shows("s") ? withParams(["s", project, id], {}) : withParams(["turns"], of(kind, id));
    case "turn":
      return replay(id) ?? withParams(["turns"], { ...of(kind, id), project });
    case "trace":
      return withParams(["turns"], { ...of(kind, id), project });
    case "call":
      return shows("call") ? withParams(["call", project, id], {}) : replay(id);
    case "context":
    case "tool":
    case "span":
      return replay(id);
    case "consortium":
      return shows(kind) ? withParams([kind, project, id], {}) : null;
    case "lineage":
    case "rollout":
    case "attempt":
    case "artifact":
      // As deep as the tree goes, for the row to be there.
      return experiment
        ? withParams(["lineage", project, experiment], { at: id, l: String(DEEPEST) })
        : replay(id);
    default:
      return null;
  }
}

function of(name: string, id: string): Record<string, string> {
  return { f: `${name}:"${id.replaceAll('"', "")}"` };
}
