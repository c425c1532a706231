"""Play the camp and record it: then look with ``turnspan lineage``."""

import turnspan
from training_camp.camp import run

if __name__ == "__main__":
    turnspan.configure(service_name="training-camp")
    turnspan.instrument()
    camp = run()
    turnspan.shutdown()
    print(f"turnspan lineage {camp.session}")
