// The star of a list: saves what it shows under a name, renames what is saved, or removes it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api";
import { announce } from "../frame/live";
import { removeView, renameView, saveView, shownView, views } from "../views";
import { Icon } from "./icon";
import { plain, visible } from "./text";

export function SaveView() {
  const known = shownView();
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const open = typed !== null;
  useLayoutEffect(() => {
    if (open) field.current?.select();
  }, [open]);
  const close = () => {
    setTyped(null);
    setError("");
  };
  if (typed === null)
    return (
      <button type="button" class="save-view" onClick={() => setTyped(known?.name ?? "")}>
        <Icon name="star" look={known ? "on" : ""} />
        <span class="label">{known ? plain(known.name) : "Save view"}</span>
      </button>
    );
  const act = async (done: Promise<void>, words: string) => {
    try {
      await done;
      announce(words);
      close();
    } catch (caught) {
      setError(asRefusal(caught).message);
    }
  };
  const replaces = !known && views.value.some(({ name }) => name === typed);
  const submit = (event: Event) => {
    event.preventDefault();
    if (known) act(renameView(known.name, typed), `Renamed ${typed}`);
    else act(saveView(typed), `Saved ${typed}`);
  };
  return (
    <form class="saving" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && close()}>
      <label>
        Name{" "}
        <input
          ref={field}
          type="text"
          maxLength={80}
          value={typed}
          aria-invalid={error !== ""}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="main">
        {known ? "Rename" : replaces ? "Replace" : "Save"}
      </button>
      {known && (
        <button type="button" onClick={() => act(removeView(known.name), `Removed ${known.name}`)}>
          Remove
        </button>
      )}
      <button type="button" onClick={close}>
        Cancel
      </button>
      {error && (
        <span class="bad" role="alert">
          {visible(error)}
        </span>
      )}
    </form>
  );
}
