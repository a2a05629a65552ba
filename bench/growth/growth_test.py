#!/usr/bin/env python3
"""varve_growth measures something of every series at every size, and makes the charts of docs/.

    growth_test.py VARVE_GROWTH DOCS_GROWTH_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SERIES = {"finding": 7, "upkeep": 5, "space": 3, "sessions": 4}
PROGRAM, COMMITTED = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stderr=subprocess.DEVNULL)


class Growth(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_measures_every_series_at_every_size(self):
        figures = self.folder / "figures.tsv"
        run("entries", "200,300", figures, self.folder)
        run("sessions", "1,20", figures, self.folder)
        lines = [line.split("\t") for line in figures.read_text().splitlines()[1:]]
        found = {}
        for chart, series, size, value in lines:
            self.assertGreater(float(value), 0, (chart, series, size))
            found.setdefault(chart, set()).add((series, size))
        self.assertEqual({chart: 2 * count for chart, count in SERIES.items()},
                         {chart: len(points) for chart, points in found.items()})

    def test_measuring_a_size_again_replaces_it(self):
        figures = self.folder / "figures.tsv"
        for _ in range(2):
            run("sessions", "1", figures, self.folder)
        self.assertEqual(1 + SERIES["sessions"], len(figures.read_text().splitlines()))

    def test_the_charts_of_the_documentation_are_of_its_figures(self):
        run("plot", COMMITTED / "figures.tsv", self.folder / "charts")
        for chart in SERIES:
            name = f"{chart}.svg"
            self.assertEqual((COMMITTED / name).read_text(),
                             (self.folder / "charts" / name).read_text(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
