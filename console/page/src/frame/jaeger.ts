// Where traces can be seen besides: the address of a Jaeger, which this browser keeps.
import { signal } from "@preact/signals";

const KEY = "turnspan.jaeger";

export const jaeger = signal(stored());

function stored(): string {
  try {
    return address(localStorage.getItem(KEY) ?? "") ?? "";
  } catch {
    return "";
  }
}

/** An address that a link may lead to, without a slash at its end; `null` of what is none. */
function address(text: string): string | null {
  if (!text) return "";
  if (!URL.canParse(text)) return null;
  const { protocol, origin, pathname } = new URL(text);
  // Any other scheme could be a program.
  if (protocol !== "http:" && protocol !== "https:") return null;
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

/** Whether it could be taken. An empty one takes the links away. */
export function setJaeger(text: string): boolean {
  const found = address(text.trim());
  if (found === null) return false;
  jaeger.value = found;
  try {
    localStorage.setItem(KEY, found);
  } catch {
    // as long as the tab is open, then
  }
  return true;
}

export function traceIn(trace: string): string {
  return `${jaeger.value}/trace/${encodeURIComponent(trace)}`;
}
