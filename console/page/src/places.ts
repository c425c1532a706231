// Where a record is shown.
import { SCREENS } from "./screens";
import type { Found } from "./types";
import { withParams } from "./url";

const shows = (name: string) => SCREENS.some((screen) => screen.name === name);

/** The address of what an id means; `null` where no screen shows it. */
export function placeOf(found: Found): string | null {
  const { kind, id, project, session_id: session } = found;
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
    default:
      return null;
  }
}

function of(name: string, id: string): Record<string, string> {
  return { f: `${name}:"${id.replaceAll('"', "")}"` };
}
