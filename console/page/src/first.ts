// Asks for the session of the address at once, while the page's own scripts are still on their way:
// `api.ts` takes the answer. A script of its own, which must stay small: the document waits for it,
// since an `async` one may come after the others.
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
if (path[0] === "s" && path.length === 3 && token) {
  const query = { ...sessionOfAddress(path, params), ...beginningOf(params) };
  const address = `/api/outline${search(query)}`;
  const response = fetch(address, { headers: { authorization: `Bearer ${token}` } });
  response.catch(() => {}); // whoever takes it says so
  window.turnspanFirst = { address, response };
}
