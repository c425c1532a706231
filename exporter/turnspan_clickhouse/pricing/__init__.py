"""What a model call cost, by the maintained price data of ``genai-prices``."""
