// The whole texts of messages that a screen shows, asked for in the background.
import { useEffect } from "preact/hooks";
import { announce } from "../frame/live";
import { load } from "./texts";

/** `hashes` in the order in which they are read; the same list as long as nothing changes. */
export function useTextsOf(project: string, scope: string, hashes: readonly string[]): void {
  useEffect(() => {
    const leaving = new AbortController();
    load(project, scope, hashes, leaving.signal).catch(() => {
      if (!leaving.signal.aborted) announce("Not all texts could be loaded: only how they begin");
    });
    return () => leaving.abort();
  }, [project, scope, hashes]);
}
