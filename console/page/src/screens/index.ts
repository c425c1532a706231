// The screens: one line each. A screen is shown for the addresses whose first part is its name, and
// reads the rest of the address itself.
import type { ComponentType } from "preact";
import type { Action } from "../keys";
import { Call } from "./call";
import { Changed } from "./changed";
import { Compare } from "./compare";
import { Consortium } from "./consortium";
import { Context } from "./context";
import { Errors } from "./errors";
import { Go } from "./go";
import { Lineage } from "./lineage";
import { Lost } from "./lost";
import { Overview } from "./overview";
import { Replay } from "./replay";
import { Review } from "./review";
import { Sessions } from "./sessions";
import { Settings } from "./settings";
import { Sql } from "./sql";
import { Turns } from "./turns";

export interface Screen {
  /** The first part of its address. */
  readonly name: string;
  readonly title: string;
  readonly Component: ComponentType;
  /** Where it stands in the rail; without it, one gets there from another screen. */
  readonly rail?: { readonly icon: string; readonly key?: Action };
}

export const SCREENS: readonly Screen[] = [
  { name: "", title: "Overview", Component: Overview, rail: { icon: "◷", key: "goOverview" } },
  { name: "call", title: "Call", Component: Call },
  { name: "diff", title: "What changed", Component: Changed },
  { name: "s", title: "Replay", Component: Replay },
  { name: "turns", title: "Turns", Component: Turns, rail: { icon: "≡", key: "goTurns" } },
  {
    name: "sessions",
    title: "Sessions",
    Component: Sessions,
    rail: { icon: "⊟", key: "goSessions" },
  },
  { name: "errors", title: "Errors", Component: Errors, rail: { icon: "✗", key: "goErrors" } },
  { name: "review", title: "Review", Component: Review, rail: { icon: "✎", key: "goReview" } },
  { name: "compare", title: "Compare", Component: Compare },
  { name: "context", title: "Context", Component: Context },
  { name: "lineage", title: "Lineage", Component: Lineage, rail: { icon: "↗" } },
  { name: "consortium", title: "Consortia", Component: Consortium, rail: { icon: "⚖" } },
  { name: "sql", title: "SQL", Component: Sql, rail: { icon: "#", key: "goSql" } },
  { name: "settings", title: "Settings", Component: Settings, rail: { icon: "⚙" } },
  { name: "go", title: "Go to", Component: Go },
];

const LOST: Screen = { name: "lost", title: "Not found", Component: Lost };
export function screenOf(path: readonly string[]): Screen {
  return SCREENS.find((screen) => screen.name === path[0]) ?? LOST;
}
