// The token comes in the fragment of the address that `turnspan console` prints, which no browser
// sends anywhere. It is kept for this origin, port included, and leaves the address at once.
const KEY = "turnspan.token";

let held = "";

/** Take the token out of the address; whether there was one. */
export function takeToken(): boolean {
  const given = new URLSearchParams(location.hash.slice(1)).get("t");
  try {
    if (given) localStorage.setItem(KEY, given);
    held = given ?? localStorage.getItem(KEY) ?? "";
  } catch {
    held = given ?? ""; // storage is switched off: this tab has it until it closes
  }
  if (given) history.replaceState(null, "", `${location.pathname}${location.search}`);
  return given !== null;
}

export function token(): string {
  return held;
}
