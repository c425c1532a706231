// Shares of a whole as one bar, with their names and numbers below it: the bar alone says
// nothing to a screen reader.
export interface Share {
  readonly name: string;
  readonly size: number;
  /** What is said of it beside its name. */
  readonly words: string;
}

const TONES = 5;

/** `whole` is at least their sum; what is left of it stays empty. */
export function Shares({
  shares,
  whole,
  label,
}: {
  shares: readonly Share[];
  whole: number;
  label: string;
}) {
  const sum = shares.reduce((total, one) => total + one.size, 0);
  const all = Math.max(sum, whole) || 1;
  let at = 0;
  return (
    <figure class="shares">
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label={label}>
        {shares.map(({ name, size }, index) => {
          const x = (1000 * at) / all;
          at += size;
          return (
            <rect
              key={name}
              class={`share-${index % TONES}`}
              x={x}
              width={(1000 * size) / all}
              height={16}
            />
          );
        })}
        {sum > whole && whole > 0 && (
          <rect class="limit" x={(1000 * whole) / all - 2} width={4} height={16} />
        )}
      </svg>
      <figcaption>
        {shares.map(({ name, words }, index) => (
          <span key={name}>
            <span class={`swatch share-${index % TONES}`} aria-hidden="true" /> {name} {words}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
