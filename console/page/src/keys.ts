// The keys of the page: one table, of which the sheet and the tooltips are made. A screen takes part
// by the name of what is done; an action without a handler is neither called nor listed.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { keep, recall } from "./storage";

export const KEYS = {
  next: ["j", "next"],
  previous: ["k", "previous"],
  nextGroup: ["J", "next turn or session"],
  previousGroup: ["K", "previous turn or session"],
  nextProblem: ["n", "next problem"],
  previousProblem: ["N", "previous problem"],
  open: ["Enter", "open"],
  up: ["u", "up"],
  fold: ["h", "fold"],
  unfold: ["l", "unfold"],
  less: ["[", "less detail"],
  more: ["]", "more detail"],
  changed: ["d", "show what changed"],
  changedFrom: ["D", "compare with the selected call"],
  context: ["c", "open the context"],
  request: ["r", "show the exact request"],
  form: ["m", "show as written, or formatted"],
  waterfall: ["w", "show the waterfall"],
  select: ["x", "select to compare"],
  compare: ["C", "compare the selected turns"],
  find: ["/", "filter or find"],
  follow: ["f", "follow live"],
  judge: ["a", "judge this turn"],
  judgeSelected: ["A", "judge the selected turns"],
  peek: ["Space", "preview, or skip"],
  sql: ["S", "open the SQL"],
  table: ["T", "switch between plot and table"],
  copyId: ["y i", "copy the id"],
  copyCommand: ["y c", "copy the command"],
  copyLink: ["y l", "copy the link"],
  copyCurl: ["y u", "copy as curl"],
  copyPython: ["y p", "copy as Python"],
  one: ["1", "choose the first"],
  two: ["2", "choose the second"],
  three: ["3", "choose the third"],
  four: ["4", "choose the fourth"],
  five: ["5", "choose the fifth"],
  six: ["6", "choose the sixth"],
  seven: ["7", "choose the seventh"],
  eight: ["8", "choose the eighth"],
  nine: ["9", "choose the ninth"],
  zero: ["0", "choose none, or score 10"],
  good: ["+", "flag as good for training"],
  bad: ["-", "exclude from training"],
  tie: ["=", "tie with the last"],
  score: ["s", "score"],
  annotate: ["e", "write a note"],
  undo: ["z", "undo"],
  back: ["b", "go back, or switch blind mode"],
  order: ["o", "order the answers, or show outcomes"],
  pick: ["p", "pick only the best"],
  bothBad: ["v", "reject all"],
  lock: ["L", "lock, or unlock"],
  evolve: ["E", "evolve the unlocked lineages"],
  others: ["O", "replace the unlocked answers"],
  directive: ["!", "say what to do differently"],
  theme: ["t", "change the theme"],
  goOverview: ["g o", "go to Overview"],
  goTurns: ["g t", "go to Turns"],
  goSessions: ["g s", "go to Sessions"],
  goReview: ["g r", "go to Review"],
  goSql: ["g q", "go to SQL"],
  goErrors: ["g e", "go to Errors"],
  palette: ["Mod+k", "find or go to an id"],
  run: ["Mod+Enter", "run, or save"],
  keys: ["?", "show these keys"],
  out: ["Escape", "close or leave"],
} as const satisfies Record<string, readonly [string, string]>;

export type Action = keyof typeof KEYS;
/** What is done; `false` says that there was nothing to do, and the browser does what it would. */
type Handler = (event: KeyboardEvent) => unknown;
/** An action without a handler cannot be done now. */
export type Handlers = Partial<Record<Action, Handler | false | null | undefined | "">>;

const OFF = "turnspan.keys-off";
const WAIT = 1200;
const layers: { current: Handlers }[] = [];

/** Single keys can be switched off: they are in the way of who speaks to the machine. */
export const keysOff = signal(recall(OFF) === "1");
export const pending = signal("");

export function switchKeys(off: boolean): void {
  keysOff.value = off;
  keep(OFF, off ? "1" : "");
}

/** Do these as long as the component is shown; the last one that was shown comes first. */
export function useKeys(handlers: Handlers): void {
  const layer = useRef(handlers);
  layer.current = handlers;
  // As soon as it is in the document: a key that follows at once is for what it shows.
  useLayoutEffect(() => {
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, []);
}

/** What can be done now, in the order of the table. */
export function available(): Action[] {
  return (Object.keys(KEYS) as Action[]).filter((action) =>
    layers.some((layer) => layer.current[action]),
  );
}

export function hint(action: Action): string {
  const [keys, words] = KEYS[action];
  return `${words} (${shown(keys)})`;
}

const MAC = navigator.platform.startsWith("Mac");

/** Keys as people read them. */
export function shown(keys: string): string {
  const plain = keys.replace("Escape", "Esc");
  return plain.replace(
    /Mod\+(.)/,
    (_, key: string) => `${MAC ? "⌘" : "Ctrl+"}${key.toUpperCase()}`,
  );
}

function pressed(event: KeyboardEvent): string {
  const key = event.key === " " ? "Space" : event.key;
  return event.metaKey || event.ctrlKey ? `Mod+${key}` : key;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** What a focused element does with these keys itself. */
function isItsOwn(event: KeyboardEvent, key: string): boolean {
  const target = event.target;
  if (!(target instanceof Element) || !["Enter", "Space"].includes(key)) return false;
  return target.closest("a, button, summary, [role=button], [role=option]") !== null;
}

function find(keys: string): Action | undefined {
  return (Object.keys(KEYS) as Action[]).find(
    (action) => KEYS[action][0] === keys && layers.some((layer) => layer.current[action]),
  );
}

let timer = 0;

function wait(prefix: string): void {
  clearTimeout(timer);
  pending.value = prefix;
  if (prefix) {
    timer = setTimeout(() => {
      pending.value = "";
    }, WAIT);
  }
}

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const key = pressed(event);
    if (["Shift", "Control", "Meta", "Mod+Control", "Mod+Meta"].includes(key)) return;
    // A dialog has the keyboard to itself; Escape closes it without us.
    if (document.querySelector("dialog[open]")) return;
    const single = !key.startsWith("Mod+") && key !== "Escape";
    if (single && (isField(event.target) || keysOff.value || isItsOwn(event, key))) return;
    // The event target may sit in a shadow tree, which retargets it: its own field says so.
    if (single && isField(event.composedPath()[0] ?? null)) return;
    const keys = pending.value ? `${pending.value} ${key}` : key;
    const begins = (Object.keys(KEYS) as Action[]).some(
      (action) => KEYS[action][0].startsWith(`${keys} `) && find(KEYS[action][0]),
    );
    wait(begins ? keys : "");
    if (begins) {
      event.preventDefault();
      return;
    }
    const action = find(keys);
    if (action) act(action, event);
  });
}

/** Do what a key of the screen does, without the key. */
export function perform(action: Action): void {
  act(action, new KeyboardEvent("keydown"));
}

function act(action: Action, event: KeyboardEvent): void {
  for (const layer of [...layers].reverse()) {
    const handler = layer.current[action];
    if (handler && handler(event) !== false) {
      event.preventDefault();
      return;
    }
  }
}
