// The saved views, in the sidebar.
import { useEffect } from "preact/hooks";
import { Icon } from "../parts/icon";
import { plain } from "../parts/text";
import { loadViews, shownView, views } from "../views";

export function Views() {
  useEffect(() => {
    loadViews().catch(() => {}); // the frame says why nothing is answered
  }, []);
  if (views.value.length === 0) return null;
  const shown = shownView()?.name;
  return (
    <section class="saved-views" aria-label="Saved views">
      <h2>Views</h2>
      {views.value.map(({ name, address }) => (
        <a
          key={name}
          href={address}
          title={plain(name)}
          aria-current={name === shown ? "page" : undefined}
        >
          <Icon name="star" />
          <span class="label">{plain(name)}</span>
        </a>
      ))}
    </section>
  );
}
