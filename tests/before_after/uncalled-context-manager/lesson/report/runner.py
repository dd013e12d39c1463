LESSONS = {}


def lesson(function):
    LESSONS[function.__name__] = function
    return function


def ends_in_an_error(name):
    try:
        LESSONS[name]()
    except Exception:
        return True
    return False
