from __future__ import annotations

from desk.agent import Desk

if __name__ == "__main__":
    print(Desk().handle("Do I need an umbrella in Oslo?"))
