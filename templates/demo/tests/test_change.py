import pytest

from till import change


def test_change_takes_as_few_coins_as_possible():
    assert change(388) == [200, 100, 50, 20, 10, 5, 2, 1]
    assert change(40) == [20, 20]


def test_no_change_for_a_negative_amount():
    with pytest.raises(ValueError):
        change(-5)
