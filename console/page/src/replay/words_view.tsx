// Two texts as one, with what was taken out and what was put in. Which words differ is worked out in
// pieces, so that the page goes on answering (a worker would need a policy for its address, and the
// page allows none); what takes longer than two seconds is compared by lines, and what takes longer
// still is not compared.
import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";
import { useEffect, useState } from "preact/hooks";
import { Marked } from "../parts/marked";
import { Missing } from "../parts/states";
import { Verbatim } from "../parts/text";

const AROUND = 160;

export function WordsView({ before, after }: { before: string; after: string }) {
  const [words, setWords] = useState<Words | null | undefined>(undefined);
  useEffect(() => {
    let left = false;
    setWords(undefined);
    wordsBetween(before, after).then((compared) => {
      if (!left) setWords(compared);
    });
    return () => {
      left = true;
    };
  }, [before, after]);
  if (words === undefined) return <Missing reason="comparing …" />;
  if (words === null) {
    return (
      <>
        <Missing reason="too long to compare in two seconds: both texts follow" />
        <Verbatim text={before} />
        <hr />
        <Verbatim text={after} />
      </>
    );
  }
  return (
    <>
      {words.by === "lines" && <Missing reason="too long to compare by words: compared by lines" />}
      <div class="verbatim words" dir="auto">
        {words.pieces.map((piece, at) => (
          <Marked key={at} piece={piece} text={shortened(piece, at, words.pieces.length)} />
        ))}
      </div>
    </>
  );
}

/** What is the same is shown around changes only. */
function shortened(piece: ChangeObject<string>, at: number, pieces: number): string {
  const text = piece.value;
  if (piece.added || piece.removed || text.length <= 3 * AROUND) return text;
  const begin = at > 0 ? text.slice(0, AROUND) : "";
  const end = at < pieces - 1 ? text.slice(-AROUND) : "";
  return `${begin} … ${end}`;
}

interface Words {
  readonly pieces: readonly ChangeObject<string>[];
  readonly by: "words" | "lines";
}

const PATIENCE = 2_000;

function wordsBetween(before: string, after: string): Promise<Words | null> {
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
