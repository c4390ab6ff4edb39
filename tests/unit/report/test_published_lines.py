"""What others published is shown below the table of an experiment that measures the like, and of no other."""

from nfvbed.report.publishedlines import published_lines, stated

TCP = "tcp-throughput"


def test_a_table_is_named_with_its_figures_and_not_ranked():
    (line,) = published_lines(("demo", "seed-ocata-vepc"), TCP)
    assert "never ranked with these" in line
    assert "SR-IOV about 600" in line and "e1000 50–60" in line and "Mbit/s" in line


def test_results_of_repetitions_are_told_by_their_range():
    line = published_lines(("seed-kisti-vswitch",), TCP)[0]
    assert "OVS-DPDK 8.61–8.94 over 10 repetitions" in line


def test_other_experiments_have_no_such_line():
    assert published_lines(("demo",), TCP) == ()


def test_one_figure_is_no_range():
    assert (stated((180.0, 180.0)), stated((50.0, 60.0))) == ("about 180", "50–60")


def test_a_table_is_below_tests_of_its_own_kind():
    assert published_lines(("seed-sigcomm-rr",), TCP) == ()
    lines = published_lines(("seed-sigcomm-rr",), "request-response")
    assert len(lines) == 6 and "AF_XDP about 15" in "".join(lines)
