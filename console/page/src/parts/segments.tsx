// One of a few, side by side: the pressed one holds.
interface Props<K extends string> {
  label: string;
  /** Each with its words, and what they mean where that is not plain. */
  choices: readonly (readonly [K, string, string?])[];
  value: K;
  choose: (value: K) => void;
}

export function Segments<K extends string>({ label, choices, value, choose }: Props<K>) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{label}</legend>
      {choices.map(([key, words, meaning]) => (
        <button
          key={key}
          type="button"
          aria-pressed={value === key}
          title={meaning}
          onClick={() => choose(key)}
        >
          {words}
        </button>
      ))}
    </fieldset>
  );
}
