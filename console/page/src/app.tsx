import { render } from "preact";
import { Frame } from "./frame/frame";
import { applyTheme } from "./frame/theme";
import { listenToKeys } from "./keys";
import "./styles/tokens.css";
import "./styles/call.css";
import "./styles/frame.css";
import "./styles/judging.css";
import "./styles/lineage.css";
import "./styles/lists.css";
import "./styles/panels.css";
import "./styles/parts.css";
import "./styles/rows.css";
import "./styles/sql.css";
import "uplot/dist/uPlot.min.css";
import "./styles/replay.css";
import "./styles/reading.css";
import "./styles/waterfall.css";
import "./styles/welcome.css";
import { takeToken } from "./token";
import { listen } from "./url";
import { askAgain } from "./use_ask";

export * from "./shared";

takeToken();
applyTheme();
// Another address with a token, typed into this tab, loads nothing anew.
addEventListener("hashchange", () => {
  if (takeToken()) askAgain();
});
listen();
listenToKeys();
const page = document.getElementById("page");
if (page) render(<Frame />, page);
