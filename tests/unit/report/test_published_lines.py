"""What others published is shown below the table of an experiment that measures the like, and of no other."""

from nfvbed.report.publishedlines import published_lines, stated


def test_a_table_is_named_with_its_figures_and_not_ranked():
    (line,) = published_lines(("demo", "seed-ocata-vepc"))
    assert "never ranked with these" in line
    assert "SR-IOV about 600" in line and "e1000 50–60" in line and "Mbit/s" in line


def test_results_of_repetitions_are_told_by_their_range():
    (line,) = published_lines(("seed-kisti-vswitch",))
    assert "OVS-DPDK 8.61–8.94 over 10 repetitions" in line


def test_other_experiments_have_no_such_line():
    assert published_lines(("demo",)) == ()


def test_one_figure_is_no_range():
    assert (stated((180.0, 180.0)), stated((50.0, 60.0))) == ("about 180", "50–60")
