"""A language server: what `fixer check` finds, while a person types. Only `fixer.cli.lsp` imports this room."""
