"""A small till."""

COINS = (200, 100, 50, 20, 10, 5, 2, 1)


def parse(price):
    """A price such as "3.20" in cents."""
    whole, _, cents = price.partition(".")
    return int(whole) * 100 + int(cents.ljust(2, "0"))


def total(prices):
    """The sum of prices such as "3.20", in cents."""
    return sum(int(price) for price in prices)


def change(cents):
    """The coins, in cents, that make up `cents`: as few as possible, largest first."""
    raise NotImplementedError


def receipt(lines):
    """A text with one line for each (name, price), and the total at the end."""
    raise NotImplementedError
