from tools.mutation import EQUIVALENT, ROOT, TESTS, report


def test_a_report_counts_equivalent_mutants_apart():
    results = {
        "killed": [f"x = {n}\tx = {n + 1}" for n in range(8)],
        "timeout": ["n -= 1\tn += 1"],
        "survived": ["a <= b\ta < b", "c + d\tc - d"],
    }
    results["segfault"] = ["e\tf"]
    text = report("file.py", results, {"file.py\ta <= b\ta < b", "other.py\tc + d\tc - d"})
    assert text.splitlines() == [
        "| file.py | 12 | 8 | 1 | 1 | 1 | 81.8 |",
        "  segfault: 1",
        "  c + d\tc - d",
    ]


def test_every_file_and_its_tests_exist():
    names = [name for path, tests in TESTS.items() for name in (path, *tests)]
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_equivalent_mutants_are_of_lines_that_exist():
    rows = [line.split("\t") for line in EQUIVALENT.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["file", "old", "new", "reason"]
    for path, old, new, reason in rows[1:]:
        assert old in (ROOT / path).read_text(encoding="utf-8")
        assert new != old and reason
