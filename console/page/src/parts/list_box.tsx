// A button that shows what is chosen, and opens a list in which one types ahead.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon";

export interface Option {
  readonly value: string;
  readonly words: string;
}

interface Props {
  label: string;
  value: string;
  options: readonly Option[];
  /** What a text that no option has stands for. */
  typed?: (text: string) => Option | null;
  choose: (value: string) => void;
  children?: ComponentChildren;
}

export function ListBox({ label, value, options, typed, choose, children }: Props) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const words = options.find((one) => one.value === value)?.words ?? value;
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys come from the button and the field.
    <div
      class="list-box"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget)))
          setOpen(false);
      }}
      onKeyDown={(event) => {
        if (!open || event.key !== "Escape") return;
        close();
        event.preventDefault();
        event.stopPropagation(); // Escape is for the list, not for the screen
      }}
    >
      <button
        ref={button}
        type="button"
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-label={`${label}: ${words}`}
        title={`${label}: ${words}`}
        onClick={() => setOpen(!open)}
      >
        {children}
        <span>{words}</span>
        <Icon name="chevron-down" />
      </button>
      {open && (
        <Choices
          label={label}
          value={value}
          options={options}
          typed={typed}
          choose={(chosen) => {
            close();
            choose(chosen);
          }}
        />
      )}
    </div>
  );
}

interface ChoicesProps {
  label: string;
  value: string;
  options: readonly Option[];
  typed: Props["typed"];
  choose: (value: string) => void;
}

function Choices({ label, value, options, typed, choose }: ChoicesProps) {
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  // Enter came before the options did.
  const [entered, setEntered] = useState(false);
  const [at, setAt] = useState(() => options.findIndex((one) => one.value === value));
  useLayoutEffect(() => field.current?.focus(), []);
  const wanted = text.trim().toLowerCase();
  const known = options.filter((one) => one.words.toLowerCase().includes(wanted));
  const other = wanted && !known.length ? typed?.(text.trim()) : null;
  const shown = other ? [other] : known;
  const chosen = Math.max(0, Math.min(at, shown.length - 1));
  const id = `options-${label}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice scrolls the list.
  useLayoutEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = shown[chosen];
    if (by) setAt(Math.max(0, Math.min(shown.length - 1, chosen + by)));
    else if (event.key === "Enter" && option) choose(option.value);
    else if (event.key === "Enter") setEntered(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const first = entered ? shown[0] : undefined;
  useEffect(() => {
    if (first) choose(first.value);
  }, [first, choose]);
  return (
    <div class="floating">
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown.length ? `${id}-${chosen}` : undefined}
        aria-label={`${label}: type to choose`}
        placeholder="Type to choose"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setEntered(false);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id={id} ref={list} role="listbox" aria-label={label}>
        {shown.map((one, index) => (
          <div
            key={one.value}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            // Before the field loses the focus, which closes the list.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(one.value)}
            onKeyDown={press}
          >
            {one.words}
          </div>
        ))}
      </div>
    </div>
  );
}
