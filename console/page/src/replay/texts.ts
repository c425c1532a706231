// The whole texts of messages: asked for by their hashes, kept, and shown as soon as they are there.
import { batch, type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api";
import { announce } from "../frame/live";
import { imagesIn } from "../reading/images";

export interface Part {
  readonly type?: string;
  readonly content?: unknown;
  readonly arguments?: unknown;
  readonly response?: unknown;
  readonly id?: string;
  readonly name?: string;
  readonly truncated?: boolean;
  readonly original_bytes?: number;
  readonly modality?: string;
  readonly mime_type?: string;
  readonly sha256?: string;
  readonly size?: number;
  readonly uri?: string;
}

const KEPT = 4_000;
interface Known {
  readonly parts: readonly Part[];
  /** The places of parts of which the server has more. */
  readonly cut: readonly number[];
}

// A signal each: of a thousand messages that are shown, those are drawn again whose texts have come.
const known = new Map<string, Signal<Known | undefined>>();
/** Those whose texts are there, the oldest first. */
const held = new Set<Signal<Known | undefined>>();
/** Changes whenever texts have come. */
export const arrived = signal(0);

export function partsOf(project: string, scope: string, hash: string): readonly Part[] | undefined {
  return textsOf(project, scope, hash).value?.parts;
}

export function cutOf(project: string, scope: string, hash: string): readonly number[] {
  return textsOf(project, scope, hash).value?.cut ?? [];
}

// A hash says all of a message, but whose it is: another scope may have pruned it.
function textsOf(project: string, scope: string, hash: string): Signal<Known | undefined> {
  const key = JSON.stringify([project, scope, hash]);
  const texts = known.get(key) ?? signal<Known | undefined>(undefined);
  known.set(key, texts);
  return texts;
}

/** Ask for texts, in this order, until all are there or none is wanted. */
async function load(
  project: string,
  scope: string,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let left = hashes.filter((hash) => !textsOf(project, scope, hash).peek());
  while (left.length && !signal.aborted) {
    const asked = left.slice(0, 1_000);
    const { answer } = await ask("POST /api/messages", { project, scope, hashes: asked }, signal);
    batch(() => {
      for (const message of answer.messages) {
        const texts = textsOf(project, scope, message.hash);
        texts.value = { parts: parsed(message.parts), cut: message.cut };
        held.add(texts);
      }
      for (const oldest of held) {
        if (held.size <= KEPT) break;
        oldest.value = undefined;
        held.delete(oldest);
      }
      arrived.value += 1;
    });
    left = [...answer.left, ...left.slice(asked.length)];
  }
}

/** Ask in the background for the texts that a screen shows: `hashes` in the order in which they are
 * read, the same list as long as nothing changes. */
export function useTextsOf(project: string, scope: string, hashes: readonly string[]): void {
  useEffect(() => {
    const leaving = new AbortController();
    load(project, scope, hashes, leaving.signal).catch(() => {
      if (!leaving.signal.aborted)
        announce("Some texts could not be loaded: only their beginnings are shown");
    });
    return () => leaving.abort();
  }, [project, scope, hashes]);
}

function parsed(text: string): readonly Part[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as Part[]) : [{ type: "text", content: text }];
  } catch {
    return [{ type: "text", content: text }];
  }
}

/** A text of JSON with a line for each value; any other text as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A value as people read it: a text as it is, JSON with its lines. */
export function written(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The text of a list of text blocks beside images that are shown, else the value as written. */
export function resultText(value: unknown): string {
  if (!Array.isArray(value) || !value.length) return written(value);
  const texts = value.filter(isTextBlock);
  const whole = texts.length + imagesIn(value).length === value.length;
  return whole ? texts.map((block) => block.text).join("\n") : written(value);
}

function isTextBlock(value: unknown): value is { text: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "type" in value &&
    value.type === "text" &&
    "text" in value &&
    typeof value.text === "string"
  );
}
