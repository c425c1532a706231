// A file of the page's own that is loaded when it is first needed.
import { useEffect, useState } from "preact/hooks";

const loaded = new Map<string, unknown>();

export type File<M> = { readonly file: M | undefined; readonly failed: boolean };

/** `path` as the server has it; `M` is the type of the module. `null` needs none. */
export function useFile<M>(path: string | null): File<M> {
  const [, setArrived] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (!path || loaded.has(path)) return;
    let left = false;
    import(path)
      .then((file: M) => {
        loaded.set(path, file);
        if (!left) setArrived((now) => now + 1);
      })
      .catch(() => !left && setFailed(true));
    return () => {
      left = true;
    };
  }, [path]);
  return { file: path ? (loaded.get(path) as M | undefined) : undefined, failed };
}
