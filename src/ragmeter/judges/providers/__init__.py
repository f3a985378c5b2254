"""Chat models behind one port: OpenAI-compatible servers, Anthropic, Gemini, and a fake for tests."""
