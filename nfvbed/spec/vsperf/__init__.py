"""VSPERF's own files and test IDs, read and mapped to experiments; nothing of them is executed.

`read_settings` reads `NN_topic.conf` files, `select` maps one test to an experiment, `study_of` checks it like one of
ours, `read_results` reads a result file that VSPERF wrote.
"""

from nfvbed.spec.vsperf.parameters import with_parameters
from nfvbed.spec.vsperf.placed import Note, NoteKind, Place
from nfvbed.spec.vsperf.reader import read_settings
from nfvbed.spec.vsperf.results import VsperfResult, read_results
from nfvbed.spec.vsperf.selection import RUNNABLE, Selection, known_tests, require_native, select, study_of
from nfvbed.spec.vsperf.settings import VsperfSettings
from nfvbed.spec.vsperf.testids import TEST_IDS, TestKind

__all__ = [
    "RUNNABLE",
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
