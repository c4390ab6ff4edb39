"""VSPERF's own files and test IDs, read and mapped to experiments; nothing in them is executed.

`read_settings` reads `NN_topic.conf` files, `select` maps one test to an experiment, `study_of` checks it like one of
ours, `read_results` reads a result file that VSPERF wrote.
"""

from nfvbed.vsperf.conf.parameters import with_parameters
from nfvbed.vsperf.conf.placed import Note, NoteKind, Place
from nfvbed.vsperf.conf.reader import read_settings
from nfvbed.vsperf.conf.results import VsperfResult, read_results
from nfvbed.vsperf.conf.selection import Selection, known_tests, require_native, select, study_of
from nfvbed.vsperf.conf.settings import VsperfSettings
from nfvbed.vsperf.conf.testids import TEST_IDS, TestKind

__all__ = [
    "TEST_IDS",
    "Note",
    "NoteKind",
    "Place",
    "Selection",
    "TestKind",
    "VsperfResult",
    "VsperfSettings",
    "read_results",
    "read_settings",
    "require_native",
    "select",
    "study_of",
    "known_tests",
    "with_parameters",
]
