// The address is the whole state of the page: reload, back and a pasted link show the same.
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { decoded } from "./addresses";

export interface Address {
  /** The parts of the path, decoded. */
  readonly path: readonly string[];
  readonly params: URLSearchParams;
}

const href = signal(`${location.pathname}${location.search}`);

export const address = computed<Address>(() => {
  const [path = "/", search = ""] = cut(href.value);
  return { path: path.split("/").slice(1).map(decoded), params: new URLSearchParams(search) };
});

/** What goes from screen to screen: whose records, of when. */
const KEPT = ["project", "since", "until"] as const;
const keptParams = computed(() => {
  const kept = KEPT.map((name) => [name, address.value.params.get(name) ?? ""]);
  return new URLSearchParams(kept.filter(([, value]) => value)).toString();
});

function cut(text: string): string[] {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** One part of a path. An id may be any text, also one that an address would swallow ("", ".."). */
export function part(text: string): string {
  return /^(~.*|\.{0,2})$/s.test(text) ? `~${encodeURIComponent(text)}` : encodeURIComponent(text);
}

export type Params = Readonly<Record<string, string>>;

/** The address of a screen: `to("s", project, session)`, with the project and window of this one. */
export function to(...parts: string[]): string {
  return withParams(parts, {});
}

/** The same with parameters; an empty one is left out. */
export function withParams(parts: readonly string[], params: Params): string {
  const path = parts.length === 1 && parts[0] === "" ? "" : parts.map(part).join("/");
  return `/${path}${changed(keptParams.value, params)}`;
}

/** The address that is shown with other parameters; an empty one goes. */
export function here(params: Params): string {
  return `${cut(href.value)[0]}${changed(address.value.params, params)}`;
}

function changed(known: string | URLSearchParams, params: Params): string {
  const next = new URLSearchParams(known);
  for (const [name, value] of Object.entries(params)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const search = next.toString();
  return search ? `?${search}` : "";
}

/** Go to an address of this page; `replace` what `back` is not to come back to. */
export function go(target: string, { replace = false } = {}): void {
  if (show(target, replace) && !replace) scrollTo(0, 0);
}

function show(target: string, replace: boolean): boolean {
  if (target === href.value) return false;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  href.value = target;
  return true;
}

/** Change parameters of the address that is shown; an empty one goes. */
export function setParams(params: Params): void {
  show(here(params), false);
}

/** The same, without a step that `back` would come back to. */
export function replaceParams(params: Params): void {
  show(here(params), true);
}

// One each, so that whoever shows one is not drawn again when another changes.
const params = new Map<string, ReadonlySignal<string>>();

export function param(name: string): string {
  const known = params.get(name) ?? computed(() => address.value.params.get(name) ?? "");
  params.set(name, known);
  return known.value;
}

/** Take a parameter away, or put it there with its only value. */
export function toggleParam(name: string, value = "1"): void {
  replaceParams({ [name]: param(name) ? "" : value });
}

/** The project and the window of time, as questions take them. */
export function windowQuery() {
  return { project: param("project"), since: param("since"), until: param("until") };
}

export function listen(): void {
  addEventListener("popstate", () => {
    href.value = `${location.pathname}${location.search}`;
  });
  // Links are plain links: they can be copied, and opened in another tab.
  addEventListener("click", (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download"))
      return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    go(`${link.pathname}${link.search}`);
  });
}
