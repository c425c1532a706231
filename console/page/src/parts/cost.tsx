// What a call cost, by kind of token, as one bar with its legend.
import type { CostParts } from "../types";
import { count, dollars, estimated } from "./numbers";
import { Shares } from "./share";
import { Missing } from "./states";
import { plain } from "./text";

export function Cost({ cost }: { cost: CostParts }) {
  return (
    <div class="cost">
      {cost.cost_usd !== null && <strong>{dollars(cost.cost_usd)}</strong>}
      {cost.price_version && <span class="faint"> prices of {plain(cost.price_version)}</span>}
      {cost.parts.length > 0 && (
        <Shares
          label={`Cost ${dollars(cost.cost_usd)}`}
          whole={0}
          shares={cost.parts.map((part) => ({
            name: part.kind,
            size: part.cost_usd,
            words: `${count(part.count)} · ${estimated(dollars(part.cost_usd), cost.estimated)}`,
          }))}
        />
      )}
      {cost.reason && <Missing reason={cost.reason} />}
      {cost.estimated && cost.parts.length > 0 && (
        <Missing reason="The parts are an estimate: they do not add up to the recorded cost." />
      )}
    </div>
  );
}
