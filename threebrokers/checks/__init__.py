"""The checks of the exercises: one module a lab, one plain function an exercise."""
