// The token comes in the fragment of the address that `turnspan console` prints, which no browser
// sends anywhere. It is kept for this origin, port included, and leaves the address at once.
import { keep, recall } from "./storage";

const KEY = "turnspan.token";

let held = "";

/** Take the token out of the address; whether there was one. */
export function takeToken(): boolean {
  const brought = new URLSearchParams(location.hash.slice(1)).get("t");
  if (brought) keep(KEY, brought);
  held = brought ?? recall(KEY) ?? "";
  if (brought) history.replaceState(null, "", `${location.pathname}${location.search}`);
  return brought !== null;
}

export function token(): string {
  return held;
}
