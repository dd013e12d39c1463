"""Names that releases of libraries removed: the tables, and where code uses them."""
