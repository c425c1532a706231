// Icons: Lucide's, of one sprite that the build makes of the names in `icons.json`.
import type icons from "./icons.json";

/** The hash of the sprite, by the build. */
declare const SPRITE: string;

export type IconName = keyof typeof icons;

/** Decoration beside words, which screen readers skip: what has no words needs a label of its own. */
export function Icon({ name, look = "" }: { name: IconName; look?: string }) {
  return (
    <svg class={`icon ${look}`} aria-hidden="true">
      <use href={`/static/icons.svg?${SPRITE}#${name}`} />
    </svg>
  );
}
