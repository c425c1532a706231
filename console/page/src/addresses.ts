// What an address says, for the page and for the script that asks before the page is there.

/** Calls of a session's beginning: what is in view at once, and is not half of most sessions. */
const BEGINNING = 60;

/** One part of a path, decoded. */
export function decoded(text: string): string {
  try {
    const plain = decodeURIComponent(text);
    return plain.startsWith("~") ? plain.slice(1) : plain;
  } catch {
    return text; // a lone % that somebody typed
  }
}

/** The values of a question as an address has them. */
export function search(query: object): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "" && one !== null) params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

/** Which session the address of a replay names. */
export function sessionOfAddress(path: readonly string[], params: URLSearchParams) {
  const [, project = "", session = ""] = path;
  return { project, session, trace: params.get("trace") ?? "" };
}

/** What is asked of a session first: its beginning, unless it is followed or the address names a
 * place, which may be anywhere. */
export function beginningOf(params: URLSearchParams): { calls: number } | null {
  const anywhere = params.get("f") === "1" || params.get("at") || params.get("only");
  return anywhere ? null : { calls: BEGINNING };
}
