// What was stored here, and taking it back.
import { useState } from "preact/hooks";
import { AskError, ask } from "../api";
import { announce } from "../frame/live";
import type { StoredJudgment } from "../types";
import { counted } from "./numbers";
import { visible } from "./text";

interface Judging {
  readonly saved: readonly StoredJudgment[];
  /** What was stored last, in words. */
  readonly words: string;
  readonly error: string;
}

interface Stored {
  readonly given: readonly StoredJudgment[];
  readonly words: string;
}

const NOTHING: Judging = { saved: [], words: "", error: "" };

/** Judge, and take back all that was said. The same thing asked again, since its answer was lost,
 * has the same id. */
export function useJudging(by: string) {
  const [judging, setJudging] = useState(NOTHING);
  const [busy, setBusy] = useState(false);
  const [retry, setRetry] = useState({ what: "", id: "" });
  const doing = async (work: () => Promise<Judging>) => {
    if (busy) return;
    setBusy(true);
    try {
      setJudging(await work());
      setRetry({ what: "", id: "" });
    } catch (failed) {
      const error = failed instanceof AskError ? failed.message : String(failed);
      setJudging((now) => ({ ...now, error, words: "" }));
    } finally {
      setBusy(false);
    }
  };
  const save = (kind: string, what: string, act: (id: string) => Promise<Stored>) => {
    const key = `${kind} ${what}`;
    const id = retry.what === key ? retry.id : crypto.randomUUID();
    setRetry({ what: key, id });
    void doing(async () => {
      const { given, words } = await act(id);
      announce(words);
      return { saved: [...judging.saved, ...given], words, error: "" };
    });
  };
  const takeBack = () => {
    if (!judging.saved.length) return announce("There is nothing to undo here.");
    return void doing(async () => {
      const { answer } = await ask("POST /api/judge/take-back", { given: [...judging.saved], by });
      return { saved: [], words: `${counted(answer.number, "judgment")} taken back`, error: "" };
    });
  };
  return { judging, busy, save, takeBack };
}

export function Told({ judging }: { judging: Judging }) {
  return (
    <>
      {judging.words && (
        <p class="good" role="status">
          <span aria-hidden="true">✓</span> {judging.words}
        </p>
      )}
      {judging.error && (
        <p class="problem" role="alert">
          <span aria-hidden="true">✗</span> {visible(judging.error)}
        </p>
      )}
    </>
  );
}
