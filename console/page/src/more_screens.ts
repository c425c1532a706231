// The screens that most visits do not need, in a file that is loaded with the first of them.
export { Changed } from "./screens/changed";
export { Compare } from "./screens/compare";
export { Consortium } from "./screens/consortium";
export { Context } from "./screens/context";
export { Lineage } from "./screens/lineage";
export { Review } from "./screens/review";
export { Settings } from "./screens/settings";
export { Sql } from "./screens/sql";
export { Week } from "./screens/week";
