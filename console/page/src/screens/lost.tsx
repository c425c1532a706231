// An address that is none of the page's.
import { Nothing } from "../parts/states";
import { to } from "../url";

export function Lost() {
  return (
    <Nothing title="There is no such screen." heading>
      <p>
        <a href={to("turns")}>Turns</a> has everything that was recorded, newest first.
      </p>
    </Nothing>
  );
}
