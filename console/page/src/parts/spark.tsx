// A small line without axes, beside the figure whose course it shows.

const WIDTH = 100;
const HEIGHT = 28;

/** `values` are those of equal stretches of time, in order; an unknown one is left out. */
export function Spark({ values }: { values: readonly (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <svg class="spark" aria-hidden="true" />;
  const most = Math.max(...known, Number.MIN_VALUE);
  const points = values.flatMap((value, at) =>
    value === null
      ? []
      : `${(at / (values.length - 1)) * WIDTH},${HEIGHT - 2 - (value / most) * (HEIGHT - 4)}`,
  );
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
