"""Throughput searches: pure logic over an injected `Measurer`; the controller is the MLRsearch library."""
