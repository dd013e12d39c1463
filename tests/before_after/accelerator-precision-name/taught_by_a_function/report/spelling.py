import functools

SHORT = {"float32": "no", "float16": "fp16", "bfloat16": "bf16"}


def teach(cls, argument):
    """Let a class take the names of dtypes, too."""
    original = cls.__init__

    @functools.wraps(original)
    def init(self, *args, **options):
        if argument in options:
            options[argument] = SHORT.get(options[argument], options[argument])
        original(self, *args, **options)

    cls.__init__ = init
