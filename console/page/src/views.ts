// Saved views: names of addresses, kept by the server. A view is what a list shows, without the row
// that the cursor is on.
import { signal } from "@preact/signals";
import { type Answer, ask } from "./api";
import type { SavedView } from "./types";
import { here } from "./url";

export const views = signal<readonly SavedView[]>([]);

function keepAnswer({ answer }: { answer: Answer<"GET /api/views"> }): void {
  views.value = answer.views;
}

export async function loadViews(): Promise<void> {
  keepAnswer(await ask("GET /api/views", {}));
}

export async function saveView(name: string): Promise<void> {
  keepAnswer(await ask("POST /api/views/save", { name, address: viewHere() }));
}

export async function renameView(name: string, to: string): Promise<void> {
  keepAnswer(await ask("POST /api/views/rename", { name, new: to }));
}

export async function removeView(name: string): Promise<void> {
  keepAnswer(await ask("POST /api/views/remove", { name }));
}

/** The address of what is shown, in one order of its parameters. */
function viewHere(): string {
  return ordered(here({ at: "" }));
}

function ordered(address: string): string {
  const [path = "", search = ""] = address.split("?");
  const params = new URLSearchParams(search);
  params.sort();
  return search ? `${path}?${params}` : path;
}

/** The view that is shown, if it is saved. */
export function shownView(): SavedView | undefined {
  const shown = viewHere();
  return views.value.find(({ address }) => ordered(address) === shown);
}
