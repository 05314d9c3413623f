"""The decks of slides for teachers: read, kept to their rules, built, printed and looked at."""
