// The way to the screens, at the left.
import { hint } from "../keys";
import { SCREENS } from "../screens";
import { address, to } from "../url";

export function Rail() {
  const current = address.value.path[0] ?? "";
  return (
    <nav class="rail" aria-label="Screens">
      {SCREENS.flatMap(({ name, title, rail }) =>
        rail ? (
          <a
            key={name}
            href={to(name)}
            aria-current={name === current ? "page" : undefined}
            title={rail.key ? hint(rail.key) : title}
          >
            <span aria-hidden="true">{rail.icon}</span>
            <span class="label">{title}</span>
          </a>
        ) : (
          []
        ),
      )}
    </nav>
  );
}
