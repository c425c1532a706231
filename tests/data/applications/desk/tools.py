def weather(city: str) -> str:
    return f"rain in {city}"
