import builtins as __builtin__


def only_the_first_prints(is_first):
    everywhere = __builtin__.print

    def quiet(*given, **options):
        if is_first or options.pop("force", False):
            everywhere(*given, **options)

    __builtin__.print = quiet
