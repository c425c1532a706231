"""Recording: what runs on the application's thread around a call, a tool and an agent."""
