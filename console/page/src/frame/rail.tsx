// The way to the screens: a sidebar with words, or folded with tooltips; on a phone a bar below.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { hint } from "../keys";
import { TERMS } from "../parts/glossary";
import { Icon } from "../parts/icon";
import { plain } from "../parts/text";
import { type Group, SCREENS, type Screen } from "../screens";
import { address, to } from "../url";
import { useAsk } from "../use_ask";
import { sidebar } from "./theme";
import { Views } from "./views";

const GROUPS: readonly Group[] = ["Look", "Improve", "Ask"];
/** Those of a phone's bar, beside the way to all. */
const FIRST = ["", "sessions", "turns"];

export function Rail() {
  const folded = sidebar.now.value === "folded";
  const words = folded ? "Unfold the sidebar" : "Fold the sidebar";
  return (
    <nav class="rail" aria-label="Screens">
      <Brand />
      <Places />
      <button type="button" class="quiet" title={words} aria-label={words} onClick={sidebar.next}>
        <Icon name={folded ? "chevrons-right" : "chevrons-left"} />
        <span class="label">Fold</span>
      </button>
    </nav>
  );
}

function Brand() {
  const { answer } = useAsk("GET /api/store", {});
  const store = answer ? plain(answer.name) : "";
  return (
    <a class="brand" href={to("")} title={`Turnspan ${store}`}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <use href="/static/icon.svg#mark" />
      </svg>
      <span>
        <b>Turnspan</b>
        <span class="store">{store}</span>
      </span>
    </a>
  );
}

function Places() {
  return (
    <div class="places">
      {GROUPS.map((group) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          <PlacesOf group={group} />
        </section>
      ))}
      <section aria-label="Settings">
        <PlacesOf group="Settings" />
      </section>
      <Views />
    </div>
  );
}

function PlacesOf({ group }: { group: Group }) {
  return SCREENS.filter(({ rail }) => rail?.group === group).map((screen) => (
    <Place key={screen.name} screen={screen} />
  ));
}

function Place({ screen: { name, title, rail, term } }: { screen: Screen }) {
  if (!rail) return null;
  const words = [title, rail.key && hint(rail.key), term && `a ${term} is ${TERMS[term]}`];
  return (
    <a
      href={to(name)}
      aria-current={name === (address.value.path[0] ?? "") ? "page" : undefined}
      title={words.filter(Boolean).join(" · ")}
    >
      <Icon name={rail.icon} />
      <span class="label">{title}</span>
    </a>
  );
}

/** A phone's: three screens, and the way to all. */
export function BarBelow() {
  const [open, setOpen] = useState(false);
  return (
    <nav class="tabs-below" aria-label="Main screens">
      {FIRST.flatMap((name) => SCREENS.filter((screen) => screen.name === name)).map((screen) => (
        <Place key={screen.name} screen={screen} />
      ))}
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="menu" />
        More
      </button>
      {open && <AllPlaces close={() => setOpen(false)} />}
    </nav>
  );
}

function AllPlaces({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter clicks a link, Escape closes a dialog.
    <dialog
      class="more-places"
      ref={dialog}
      onClose={close}
      onClick={() => dialog.current?.close()}
      aria-label="All screens"
    >
      <Places />
    </dialog>
  );
}
