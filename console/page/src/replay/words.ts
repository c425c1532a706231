// Which words differ between two texts. It is worked out in pieces, so that the page goes on
// answering (a worker would need a policy for its address, and the page allows none); what takes
// longer than two seconds is compared by lines, and what takes longer still is not compared.
import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";

export interface Words {
  readonly pieces: readonly ChangeObject<string>[];
  readonly by: "words" | "lines";
}

const PATIENCE = 2_000;

export function wordsBetween(before: string, after: string): Promise<Words | null> {
  return new Promise((resolve) => {
    diffWordsWithSpace(before, after, {
      timeout: PATIENCE,
      callback: (pieces) => {
        if (pieces) resolve({ pieces, by: "words" });
        else linesBetween(before, after).then(resolve);
      },
    });
  });
}

function linesBetween(before: string, after: string): Promise<Words | null> {
  return new Promise((resolve) => {
    diffLines(before, after, {
      timeout: PATIENCE,
      callback: (pieces) => resolve(pieces ? { pieces, by: "lines" } : null),
    });
  });
}
