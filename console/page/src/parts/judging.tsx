// What was stored here, and taking it back.
import { useState } from "preact/hooks";
import { ask, asRefusal } from "../api";
import { announce } from "../frame/live";
import type { StoredJudgment } from "../types";
import { Icon } from "./icon";
import { counted } from "./numbers";
import { Problem } from "./states";

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
      setJudging((now) => ({ ...now, error: asRefusal(failed).message, words: "" }));
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

/** What was stored last, or why it was not. */
export function Outcome({ judging }: { judging: Judging }) {
  return (
    <>
      {judging.words && (
        <p class="good" role="status">
          <Icon name="check" /> {judging.words}
        </p>
      )}
      {judging.error && <Problem message={judging.error} />}
    </>
  );
}
