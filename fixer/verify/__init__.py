"""Running a person's code before and after the fixes."""
