// An order of answers as it is typed, `3 1 2=4`, and the pairs that it makes.
import type { NoPair } from "../types";

/** Places of columns, the best first; those of a group are equally good. */
export type Groups = readonly (readonly number[])[];

export interface Typed {
  readonly groups: Groups;
  /** `=` was typed: the next one is as good as the last. */
  readonly tie: boolean;
}

export const NO_ORDER: Typed = { groups: [], tie: false };

/** The order with another column; one that is there already stays where it is. */
export function withColumn({ groups, tie }: Typed, column: number): Typed {
  if (groups.some((group) => group.includes(column))) return { groups, tie };
  const last = groups.at(-1);
  if (tie && last) return { groups: [...groups.slice(0, -1), [...last, column]], tie: false };
  return { groups: [...groups, [column]], tie: false };
}

/** The order without what was typed last. */
export function shorter({ groups, tie }: Typed): Typed {
  if (tie) return { groups, tie: false };
  const last = groups.at(-1) ?? [];
  const rest = groups.slice(0, -1);
  return { groups: last.length > 1 ? [...rest, last.slice(0, -1)] : rest, tie: false };
}

/** The best one, and all others below it. */
export function onlyBest(column: number, columns: number): Groups {
  const others = Array.from({ length: columns }, (_, at) => at).filter((at) => at !== column);
  return [[column], others];
}

export function written({ groups, tie }: Typed): string {
  return (
    groups.map((group) => group.map((at) => at + 1).join(" = ")).join(" > ") + (tie ? " =" : "")
  );
}

export interface Pair {
  readonly chosen: number;
  readonly rejected: number;
  /** Why it is not stored; empty where it is. */
  readonly why: string;
}

/** The pairs that an order makes; `answer` says which answer a column shows. */
export function pairsOf(
  groups: Groups,
  answer: (column: number) => number,
  refused: readonly NoPair[],
): Pair[] {
  const why = (one: number, other: number) => {
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    return refused.find((pair) => pair.one === low && pair.other === high)?.why ?? "";
  };
  return groups.flatMap((group, at) =>
    group.flatMap((chosen) =>
      groups.slice(at + 1).flatMap((worse) =>
        worse.map((rejected) => ({
          chosen,
          rejected,
          why: why(answer(chosen), answer(rejected)),
        })),
      ),
    ),
  );
}

/** Places in an order that its seed alone decides, so that a reload shows the same. */
export function shuffled(count: number, seed: number): number[] {
  const places = Array.from({ length: count }, (_, at) => at);
  let state = seed >>> 0;
  const random = () => {
    // The generator mulberry32: few lines, and good enough to hide who wrote what.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let at = count - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [one = 0, two = 0] = [places[at], places[other]];
    places[at] = two;
    places[other] = one;
  }
  return places;
}

/** The answers that come after those shown, in the places of those that are not locked; the same
 * where there are no others. `alike` are all answers to the prompt, in an order that stays. */
export function exchanged(
  shown: readonly string[],
  locked: ReadonlySet<string>,
  alike: readonly string[],
): readonly string[] {
  const last = Math.max(...shown.map((id) => (locked.has(id) ? -1 : alike.indexOf(id))));
  const following = [...alike.slice(last + 1), ...alike.slice(0, last + 1)];
  const others = following.filter((id) => !shown.includes(id));
  return shown.map((id) => (locked.has(id) ? id : (others.shift() ?? id)));
}
