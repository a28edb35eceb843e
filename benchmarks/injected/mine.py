"""A module of the program's own."""


def total(number):
    found = 0
    for part in range(number):
        found += len(str(part))
    return found
