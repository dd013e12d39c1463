def first_accepted(*makers):
    for make in makers:
        try:
            return make()
        except ValueError:
            pass
    return None
