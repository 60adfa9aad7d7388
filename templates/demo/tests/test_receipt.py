from till import receipt


def test_a_receipt_names_everything_and_ends_with_the_total():
    lines = receipt([("tea", "2.50"), ("scone", "3.20")]).splitlines()
    assert [line.split()[0] for line in lines] == ["tea", "scone", "total"]
    assert lines[-1].split()[-1] == "5.70"
