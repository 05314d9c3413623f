"""A lab worked in a browser as a learner does, mistakes included, with a picture of each step."""
