def first_of(*makers):
    errors = []
    for maker in makers:
        try:
            return maker()
        except ValueError as error:
            errors.append(error)
    raise RuntimeError(errors)
