// The token comes in the fragment of the address that `turnspan console` prints, which no browser
// sends anywhere. It is kept for this origin, port included, and leaves the address at once.
import { keep, recall } from "./storage";

const KEY = "turnspan.token";

let held = "";

function tokenOfAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("t");
}

/** The token of the address, else the one that is kept. */
export function recallToken(): string {
  return tokenOfAddress() ?? recall(KEY) ?? "";
}

/** Take the token out of the address; whether there was one. */
export function takeToken(): boolean {
  const brought = tokenOfAddress();
  if (brought) keep(KEY, brought);
  held = recallToken();
  if (brought) history.replaceState(null, "", `${location.pathname}${location.search}`);
  return brought !== null;
}

export function token(): string {
  return held;
}
