// The sheet of keys: made of the table, and only of what the screen that is shown does.
import { useLayoutEffect, useRef } from "preact/hooks";
import { available, KEYS, shown } from "../keys";
import { KeysSwitch } from "./keys_switch";

export function Sheet({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="sheet" ref={dialog} onClose={close} aria-labelledby="sheet-title">
      <header>
        <h2 id="sheet-title">Keys</h2>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </header>
      <dl>
        {available().map((action) => (
          <div key={action} data-action={action}>
            <dt>
              <kbd>{shown(KEYS[action][0])}</kbd>
            </dt>
            <dd>{KEYS[action][1]}</dd>
          </div>
        ))}
      </dl>
      <KeysSwitch />
    </dialog>
  );
}
