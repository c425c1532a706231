// Where traces can be seen besides: the address of a Jaeger, which this browser keeps.
import { signal } from "@preact/signals";
import { keep, recall } from "../storage";

const KEY = "turnspan.jaeger";

export const jaeger = signal(address(recall(KEY) ?? "") ?? "");

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
  const taken = address(text.trim());
  if (taken === null) return false;
  jaeger.value = taken;
  keep(KEY, taken);
  return true;
}

export function traceIn(trace: string): string {
  return `${jaeger.value}/trace/${encodeURIComponent(trace)}`;
}
