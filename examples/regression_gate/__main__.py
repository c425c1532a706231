"""Record a day of the first version, and a person who judges every answer of it."""

from __future__ import annotations

import turnspan
import turnspan_records
from regression_gate.orders import ORDERS, first, price

_TURNS = "SELECT turn_id, user_message, response_text FROM turn_summary WHERE agent_name = 'orders'"


def main() -> None:
    """Ask about every order, then judge and correct the answers."""
    turnspan.configure(service_name="orders")
    turnspan.instrument()
    for order in range(ORDERS):
        with turnspan.session(f"order-{order}"):
            first(f"What did order {order} cost?")
    turnspan.flush()
    with turnspan_records.open() as store:
        turns = store.query(_TURNS).rows
    wrong = 0
    for turn, question, answer in turns:
        order = int("".join(filter(str.isdigit, str(question))))
        right = f"Order {order} cost {price(order)} EUR."
        if answer == right:
            turnspan.annotate(str(turn), outcome="used", author="ada")
        else:
            wrong += 1
            turnspan.annotate(str(turn), outcome="rejected", author="ada")
            turnspan.evaluation("correction", explanation=right, subject=str(turn))
    turnspan.shutdown()
    print(f"{wrong} of {len(turns)} answers were wrong.")


if __name__ == "__main__":
    main()
