"""The only code that talks to models: it writes raw rows and never interprets an answer."""
