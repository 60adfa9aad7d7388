from till import total


def test_prices_add_up_to_the_cent():
    assert total(["0.10", "0.20", "3"]) == 330


def test_nothing_costs_nothing():
    assert total([]) == 0
