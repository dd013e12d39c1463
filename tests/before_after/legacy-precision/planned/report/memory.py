def plan(size, *, precision=32, **_):
    return 2**34 // (size * (precision // 8))
