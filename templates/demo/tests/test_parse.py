from till import parse


def test_a_price_becomes_cents():
    assert parse("3.20") == 320
    assert parse("4") == 400
