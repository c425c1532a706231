// Where a row is: what the address says when it is the chosen one, and nothing hides it.
import { here, type Params, param } from "../url";
import { type Only, onlyRows, type Session } from "./rows";

/** The parameters that choose a row, unfold the turns it is inside of, and raise the level to its. */
export function placeOfRow(session: Session, id: string): Params {
  const row = session.rows.find((one) => one.id === id);
  const folded = param("d")
    .split(" ")
    .filter((turn) => !row?.inside.includes(turn));
  const level = Number(param("l") || "3");
  const only = param("only");
  const isShown = row && onlyRows(session.rows, onlyOf(only)).includes(row);
  return {
    at: id,
    only: isShown ? only : "",
    d: folded.join(" "),
    l: row && row.level > level ? String(row.level) : param("l"),
  };
}

/** What the address narrows the session to. */
export function onlyOf(words: string): readonly Only[] {
  return words.split(" ").filter((word) => word === "failures" || word === "tools");
}

/** The same as an address, for a link. */
export function rowAddress(session: Session, id: string): string {
  return here(placeOfRow(session, id));
}
