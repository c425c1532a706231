// The frame around every screen.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Handlers, useKeys } from "../keys";
import type * as MoreScreens from "../more_screens";
import { Comparing } from "../parts/compare_with";
import { noStore, Problem, Trouble } from "../parts/states";
import { SCREENS, type Screen, screenOf } from "../screens";
import { Welcome } from "../screens/welcome";
import { address, go, to } from "../url";
import { useFile } from "../use_file";
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
        <Comparing />
        {noStore() && screen.name !== "settings" ? (
          <Welcome reason={noStore()} />
        ) : (
          <Shown key={key} screen={screen} />
        )}
      </main>
      <StatusLine />
      <BarBelow />
      {palette && <Palette close={() => setPalette(false)} />}
      {sheet && <Sheet close={() => setSheet(false)} />}
    </>
  );
}

function Shown({ screen }: { screen: Screen }) {
  const { later } = screen;
  const { file, failed } = useFile<typeof MoreScreens>(later ? "/static/more_screens.js" : null);
  const Component = screen.Component ?? (later && file?.[later]);
  if (failed) {
    const message = "This screen could not be loaded. Does `turnspan console` still run?";
    return <Problem message={message} again={() => location.reload()} />;
  }
  return Component ? <Component /> : null;
}

const WAYS: Handlers = Object.fromEntries(
  SCREENS.flatMap(({ name, rail }) => (rail?.key ? [[rail.key, () => go(to(name))]] : [])),
);
