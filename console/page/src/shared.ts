// What the files that are loaded later take from the first one. They import it from its address,
// Preact too (`build.mjs` sees to that): a second copy would be another one.
export { Fragment } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { jsx, jsxs } from "preact/jsx-runtime";
export { Icon } from "./parts/icon";
export { count, counted, seconds } from "./parts/numbers";
export { Fold, Missing } from "./parts/states";
export { Line, marked, plain, UNFIT, Verbatim, visible } from "./parts/text";
export { jsonOf } from "./reading/forms";
export { shownRows } from "./replay/rows";
export { useNow } from "./replay/use_now";
