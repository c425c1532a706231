// Asks for the session of the address at once, while the page's own scripts are still on their way:
// `api.ts` takes the answer. A script of its own, which must stay small.
import { beginningOf, decoded, search, sessionOfAddress } from "./addresses";
import { recallToken } from "./token";

declare global {
  interface Window {
    turnspanFirst?: { address: string; response: Promise<Response> };
  }
}

const path = location.pathname.split("/").slice(1).map(decoded);
const params = new URLSearchParams(location.search);
const token = recallToken();
const late = document.querySelector("#page > *") !== null; // the page has asked by itself
if (!late && path[0] === "s" && path.length === 3 && token) {
  const query = { ...sessionOfAddress(path, params), ...beginningOf(params) };
  const address = `/api/outline${search(query)}`;
  const response = fetch(address, { headers: { authorization: `Bearer ${token}` } });
  response.catch(() => {}); // whoever takes it says so
  window.turnspanFirst = { address, response };
}
