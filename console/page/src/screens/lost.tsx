// An address that is none of the page's.
import { Nothing } from "../parts/states";
import { to } from "../url";

export function Lost() {
  return (
    <Nothing title="There is no such screen." heading>
      <p>
        <a href={to("turns")}>Turns</a> lists every recorded turn, newest first.
      </p>
    </Nothing>
  );
}
