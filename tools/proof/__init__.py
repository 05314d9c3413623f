"""The proof that every lab runs: tests, exercises, nbval, repetitions."""
