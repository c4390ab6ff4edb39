"""A run that was stored by an older nfvbed is read with the names that keys have now."""

from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.dataplanes.ovs.dpdk.compute import check_options
from nfvbed.plan.stored import stored_study
from nfvbed.spec.validate import RENAMED


def test_options_of_older_runs_have_the_names_of_now():
    project = open_project()
    study = project.load_study("demo")
    variant = next(project.load_variant(name) for name in project.variant_names if name == "linux-bridge-virtio")
    older = variant.model_dump(mode="json")
    for former, now in RENAMED.items():
        older["options"][former] = older["options"].pop(now)
    plan = {
        "experiment": study.experiment.model_dump(mode="json"),
        "variants": [older],
        "site": study.site.model_dump(mode="json"),
        "runnable": ["linux-bridge-virtio"],
    }
    read, runnable = stored_study(plan, VariantModel)
    assert (read.variants, runnable) == ((variant,), ("linux-bridge-virtio",))


def test_a_site_refuses_no_option_of_a_stored_run_that_no_file_named():
    project = open_project()
    study = project.load_study("demo")
    variants = tuple(project.load_variant(name) for name in project.variant_names)
    plan = {
        "experiment": study.experiment.model_dump(mode="json"),
        "variants": [variant.model_dump(mode="json") for variant in variants],
        "site": study.site.model_dump(mode="json"),
        "runnable": [variant.name for variant in variants],
    }
    read, _ = stored_study(plan, VariantModel)
    assert read.variants == variants
    for stored, variant in zip(read.variants, variants, strict=True):
        assert stored.options.model_fields_set <= variant.options.model_fields_set, variant.name
        assert stored.model_dump(mode="json") == variant.model_dump(mode="json")
    (resumed,) = (variant for variant in read.variants if variant.name == "ovs-dpdk")
    check_options(resumed)
