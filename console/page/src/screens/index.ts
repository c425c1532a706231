// The screens: one line each. A screen is shown for the addresses whose first part is its name, and
// reads the rest of the address itself.
import type { ComponentType } from "preact";
import type { Action } from "../keys";
import type { IconName } from "../parts/icon";
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
  /** Where it stands in the sidebar; without it, one gets there from another screen. */
  readonly rail?: { readonly group: Group; readonly icon: IconName; readonly key?: Action };
}

/** What screens are for, as the sidebar groups them. */
export type Group = "Look" | "Improve" | "Ask" | "Settings";

export const SCREENS: readonly Screen[] = [
  {
    name: "",
    title: "Overview",
    Component: Overview,
    rail: { group: "Look", icon: "layout-dashboard", key: "goOverview" },
  },
  { name: "call", title: "Call", Component: Call },
  { name: "diff", title: "What changed", Component: Changed },
  { name: "s", title: "Replay", Component: Replay },
  {
    name: "sessions",
    title: "Sessions",
    Component: Sessions,
    rail: { group: "Look", icon: "messages-square", key: "goSessions" },
  },
  {
    name: "turns",
    title: "Turns",
    Component: Turns,
    rail: { group: "Look", icon: "list", key: "goTurns" },
  },
  {
    name: "errors",
    title: "Errors",
    Component: Errors,
    rail: { group: "Look", icon: "circle-alert", key: "goErrors" },
  },
  {
    name: "review",
    title: "Review",
    Component: Review,
    rail: { group: "Improve", icon: "clipboard-check", key: "goReview" },
  },
  { name: "compare", title: "Compare", Component: Compare },
  { name: "context", title: "Context", Component: Context },
  {
    name: "lineage",
    title: "Lineage",
    Component: Lineage,
    rail: { group: "Improve", icon: "git-branch" },
  },
  {
    name: "consortium",
    title: "Consortium",
    Component: Consortium,
    rail: { group: "Improve", icon: "scale" },
  },
  {
    name: "sql",
    title: "SQL",
    Component: Sql,
    rail: { group: "Ask", icon: "terminal", key: "goSql" },
  },
  {
    name: "settings",
    title: "Settings",
    Component: Settings,
    rail: { group: "Settings", icon: "settings" },
  },
  { name: "go", title: "Go to", Component: Go },
];

const LOST: Screen = { name: "lost", title: "Not found", Component: Lost };
export function screenOf(path: readonly string[]): Screen {
  return SCREENS.find((screen) => screen.name === path[0]) ?? LOST;
}
