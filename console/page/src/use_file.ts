// A file of the page's own that is loaded when it is first needed.
import { useEffect, useState } from "preact/hooks";

const loaded = new Map<string, unknown>();

export type File<M> = { readonly file: M | undefined; readonly failed: boolean };

/** `path` as the server has it; `M` is the type of the module. `null` needs none. */
export function useFile<M>(path: string | null): File<M> {
  const [, setArrived] = useState(0);
  const [failed, setFailed] = useState(false);
  const file = path ? (loaded.get(path) as M | undefined) : undefined;
  // Not whether it is there now: it may have come since this was drawn without it.
  const needed = file ? null : path;
  useEffect(() => {
    if (!needed) return;
    let left = false;
    import(needed)
      .then((came: M) => {
        loaded.set(needed, came);
        if (!left) setArrived((now) => now + 1);
      })
      .catch(() => !left && setFailed(true));
    return () => {
      left = true;
    };
  }, [needed]);
  return { file, failed };
}
