// The frame around every screen.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Handlers, useKeys } from "../keys";
import { noStore, Trouble } from "../parts/states";
import { SCREENS, screenOf } from "../screens";
import { Welcome } from "../screens/welcome";
import { address, go, to } from "../url";
import { keepFocus } from "./focus";
import { Palette } from "./palette";
import { BarBelow, Rail } from "./rail";
import { Sheet } from "./sheet";
import { StatusLine } from "./status";
import { nextTheme } from "./theme";
import { TopBar } from "./top_bar";

export function Frame() {
  const [sheet, setSheet] = useState(false);
  const [palette, setPalette] = useState(false);
  const screen = screenOf(address.value.path);
  const { Component } = screen;
  const key = address.value.path.join("\n");
  useKeys({
    ...WAYS,
    theme: nextTheme,
    keys: () => setSheet(true),
    palette: () => setPalette(true),
  });
  const main = useRef<HTMLElement>(null);
  useEffect(() => (main.current ? keepFocus(main.current) : undefined), []);
  useEffect(() => {
    document.title = `${screen.title} · Turnspan`;
  }, [screen]);
  return (
    <>
      <a class="skip" href="#screen">
        Skip to the screen
      </a>
      <Rail />
      <TopBar showKeys={() => setSheet(true)} showPalette={() => setPalette(true)} />
      <main id="screen" ref={main} tabIndex={-1}>
        <Trouble />
        {noStore() && screen.name !== "settings" ? (
          <Welcome reason={noStore()} />
        ) : (
          <Component key={key} />
        )}
      </main>
      <StatusLine />
      <BarBelow />
      {palette && <Palette close={() => setPalette(false)} />}
      {sheet && <Sheet close={() => setSheet(false)} />}
    </>
  );
}

const WAYS: Handlers = Object.fromEntries(
  SCREENS.flatMap(({ name, rail }) => (rail?.key ? [[rail.key, () => go(to(name))]] : [])),
);
