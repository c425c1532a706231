// Keys of one character can be in the way of those who dictate (WCAG 2.1.4).
import { keysOff, switchKeys } from "../keys";

export function KeysSwitch() {
  return (
    <label>
      <input
        type="checkbox"
        checked={keysOff.value}
        onChange={(event) => switchKeys(event.currentTarget.checked)}
      />
      Turn off single-character keys
    </label>
  );
}
