// What the page asks the server: typed by the endpoints, with the token.
import { signal } from "@preact/signals";
import { search } from "./addresses";
import { token } from "./token";
import type { Endpoints } from "./types";

export type Name = keyof Endpoints;
export type Query<N extends Name> = Endpoints[N]["query"];
export type Answer<N extends Name> = Endpoints[N]["answer"];

/** A refusal: the sentence of the server, which says what to do, and the `details` of those
 * endpoints that have them. */
export class AskError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

/** Whatever was thrown, as a refusal. */
export function asRefusal(error: unknown): AskError {
  return error instanceof AskError ? error : new AskError(String(error), 0);
}

/** What keeps every question from an answer: the server is away, the store cannot be asked, or the
 * token is not the server's. The frame says it once, whoever asked. */
export const trouble = signal<AskError | null>(null);

const AWAY = 0;
export const UNKNOWN_TOKEN = 401;
const NO_STORE = 503;

export function isTrouble({ status }: AskError): boolean {
  return [AWAY, UNKNOWN_TOKEN, NO_STORE].includes(status);
}

export interface Reply<N extends Name> {
  readonly answer: Answer<N>;
  /** Milliseconds in the store. */
  readonly took: number;
  /** Whether it is the store's: some questions are answered without it. */
  readonly ofStore: boolean;
}

export async function ask<N extends Name>(
  name: N,
  query: Query<N>,
  leaving?: AbortSignal,
): Promise<Reply<N>> {
  try {
    const reply = await answered(name, query, leaving);
    if (reply.ofStore || trouble.value?.status !== NO_STORE) trouble.value = null;
    return reply;
  } catch (error) {
    if (error instanceof AskError) trouble.value = isTrouble(error) ? error : null;
    throw error;
  }
}

async function answered<N extends Name>(
  name: N,
  query: Query<N>,
  leaving?: AbortSignal,
): Promise<Reply<N>> {
  const [method = "GET", path = ""] = name.split(" ");
  const post = method === "POST";
  let response: Response;
  try {
    const address = post ? path : `${path}${search(query)}`;
    const sent = {
      method,
      headers: {
        authorization: `Bearer ${token()}`,
        ...(post ? { "content-type": "application/json" } : {}),
      },
      body: post ? JSON.stringify(query) : null,
      signal: leaving ?? null,
    };
    response = await (askedBefore(address) ?? fetch(address, sent));
    leaving?.throwIfAborted();
  } catch (error) {
    if (leaving?.aborted) throw error;
    throw new AskError(
      "The page's server does not answer. Start it again: turnspan console.",
      AWAY,
    );
  }
  if (!response.ok) throw await refusal(response);
  const took = /dur=([\d.]+)/.exec(response.headers.get("server-timing") ?? "");
  const answer = (await response.json()) as Answer<N>;
  return { answer, took: Number(took?.[1] ?? 0), ofStore: took !== null };
}

/** What `first.ts` has asked already, once. */
function askedBefore(address: string): Promise<Response> | null {
  const first = window.turnspanFirst;
  if (first?.address !== address) return null;
  delete window.turnspanFirst;
  return first.response;
}

async function refusal(response: Response): Promise<AskError> {
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null && "error" in body) {
      const details = "details" in body ? body.details : undefined;
      return new AskError(String(body.error), response.status, details);
    }
  } catch {
    // not ours: a proxy's
  }
  return new AskError(`The server answered ${response.status}.`, response.status);
}
