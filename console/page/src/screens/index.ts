// The screens: one line each. A screen is shown for the addresses whose first part is its name, and
// reads the rest of the address itself.
import type { ComponentType } from "preact";
import type { Action } from "../keys";
import type * as MoreScreens from "../more_screens";
import type { TERMS } from "../parts/glossary";
import type { IconName } from "../parts/icon";
import { Call } from "./call";
import { Errors } from "./errors";
import { Go } from "./go";
import { Lost } from "./lost";
import { Overview } from "./overview";
import { Replay } from "./replay";
import { Sessions } from "./sessions";
import { Turns } from "./turns";

export interface Screen {
  /** The first part of its address. */
  readonly name: string;
  readonly title: string;
  /** What is shown; of a screen that most visits do not need, its name in `more_screens.ts`. */
  readonly Component?: ComponentType;
  readonly later?: keyof typeof MoreScreens;
  /** Where it stands in the sidebar; without it, one gets there from another screen. */
  readonly rail?: { readonly group: Group; readonly icon: IconName; readonly key?: Action };
  /** What it lists, where that is a term of ours. */
  readonly term?: keyof typeof TERMS;
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
  { name: "diff", title: "What changed", later: "Changed" },
  { name: "s", title: "Replay", Component: Replay },
  {
    name: "sessions",
    title: "Sessions",
    term: "session",
    Component: Sessions,
    rail: { group: "Look", icon: "messages-square", key: "goSessions" },
  },
  {
    name: "turns",
    title: "Turns",
    term: "turn",
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
    name: "week",
    title: "Week",
    later: "Week",
    rail: { group: "Look", icon: "clock" },
  },
  {
    name: "review",
    title: "Review",
    later: "Review",
    rail: { group: "Improve", icon: "clipboard-check", key: "goReview" },
  },
  { name: "compare", title: "Compare", later: "Compare" },
  { name: "context", title: "Context", later: "Context" },
  {
    name: "lineage",
    title: "Lineage",
    later: "Lineage",
    rail: { group: "Improve", icon: "git-branch" },
  },
  {
    name: "consortium",
    title: "Consortium",
    later: "Consortium",
    rail: { group: "Improve", icon: "scale" },
  },
  {
    name: "sql",
    title: "SQL",
    later: "Sql",
    rail: { group: "Ask", icon: "terminal", key: "goSql" },
  },
  {
    name: "settings",
    title: "Settings",
    later: "Settings",
    rail: { group: "Settings", icon: "settings" },
  },
  { name: "go", title: "Go to", Component: Go },
];

const LOST: Screen = { name: "lost", title: "Not found", Component: Lost };
export function screenOf(path: readonly string[]): Screen {
  return SCREENS.find((screen) => screen.name === path[0]) ?? LOST;
}
