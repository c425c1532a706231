// Two texts, with the words that differ marked: as one text with what went and what came, or as the
// second one with what the first does not have.
import { diffLines, diffWordsWithSpace } from "diff";
import { useMemo } from "preact/hooks";
import { visible } from "./text";

interface Piece {
  readonly text: string;
  readonly kind: "same" | "gone" | "new";
}

/** How long words are looked for; after that whole lines are compared. */
const PATIENCE = 150;

export function pieces(before: string, after: string): Piece[] {
  const found =
    diffWordsWithSpace(before, after, { timeout: PATIENCE }) ??
    diffLines(before, after, { timeout: PATIENCE });
  if (!found) {
    return [
      { text: before, kind: "gone" },
      { text: after, kind: "new" },
    ];
  }
  return found.map(({ value, added, removed }) => ({
    text: value,
    kind: added ? "new" : removed ? "gone" : "same",
  }));
}

/** What went and what came, in one text. */
export function Changed({ before, after }: { before: string; after: string }) {
  const found = useMemo(() => pieces(before, after), [before, after]);
  return <div class="verbatim">{found.map(element)}</div>;
}

/** A text, with what another one does not have marked. */
export function Against({ other, text }: { other: string; text: string }) {
  const found = useMemo(
    () => pieces(other, text).filter((piece) => piece.kind !== "gone"),
    [other, text],
  );
  return (
    <div class="verbatim" dir="auto">
      {found.map((piece, at) =>
        piece.kind === "same" ? visible(piece.text) : <mark key={at}>{visible(piece.text)}</mark>,
      )}
    </div>
  );
}

function element(piece: Piece, at: number) {
  if (piece.kind === "same") return visible(piece.text);
  return piece.kind === "new" ? (
    <ins key={at}>{visible(piece.text)}</ins>
  ) : (
    <del key={at}>{visible(piece.text)}</del>
  );
}
