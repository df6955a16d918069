"""Measures which wrong arithmetics the tests of other suites let pass, and writes docs/suites.md.

python benchmarks/suites_page.py [--tosa FOLDER] [SUITE …]     half an hour

Results go to benchmarks/suites/results.json. FOLDER is what tosa-tools wrote:
`tosa_verif_build_tests --filter rescale --test-type positive -o FOLDER`. Without arguments the page is written from the
results that there are.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import stablehlo_programs
import suite_tests as own

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.offline.export import export_cases
from tiebreak.conformance.power.arithmetics import WrongArithmetic, answered
from tiebreak.conformance.power.minimal import fewest_cases, form_problem, sorted_names
from tiebreak.conformance.power.own_tests import OwnTest, Power, power_of
from tiebreak.conformance.power.stops import stopping
from tiebreak.conformance.power.suites import SUITES, Near, near_in_onnx, near_in_wpt
from tiebreak.golden.nodes import Case

ROOT = Path(__file__).parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "suites" / "results.json", ROOT / "docs" / "suites.md"
READY = ROOT / "benchmarks" / "suites" / "ready"
EVEN = "ROUND_NEAREST_TOWARD_EVEN"


@dataclass(frozen=True)
class Measured:
    """A suite: its tests, the operator whose vectors are compared with them, and where cases for it would be sent."""

    title: str
    tests: Callable[[], Sequence[OwnTest]]
    near: Near | None
    how: str
    operator: str
    suite: str
    source: str
    attributes: Mapping[str, Any]
    power: Callable[[], Power] | None = None  # of programs, whose tests are no single cases
    remark: Callable[[], str] | None = None

    def vectors(self, tests: Sequence[OwnTest]) -> list[Case]:
        """The vectors of the pairs of types that the tests have."""
        pairs = dict.fromkeys((test.case.node.inputs[0].element, test.case.node.outputs[0].element) for test in tests)
        return [
            case
            for source, target in pairs
            for case in plan(Selection((self.operator,), self.attributes, source, target, level=""))
        ]


def measured(tosa: Path | None) -> dict[str, Measured]:
    onnx = "onnx 1.23.2, onnx/backend/test/case/node, the tests of this one node; Apache-2.0"
    found = {
        name: Measured(
            f"ONNX node tests of {name}", partial(listed, own.onnx_node_tests, name), near_in_onnx,
            SUITES["onnx"].rule, f"onnx.{name}", "onnx", onnx, {},
        )
        for name in ("QuantizeLinear", "DequantizeLinear")
    }  # fmt: skip
    found["wpt"] = Measured(
        "WPT's quantizeLinear", partial(listed, own.wpt_tests), near_in_wpt,
        "at most 1 ULP apart, which is 1 for integers", "ngraph.Quantize", "wpt",
        "web-platform-tests, webnn/conformance_tests, a stored copy read on 2026-11-26; BSD-3-Clause; numbers in "
        "`benchmarks/suites/wpt_quantize_linear.json`", {"round_mode": EVEN},
    )  # fmt: skip
    found["stablehlo"] = Measured(
        "StableHLO's quantized programs", partial(listed, stablehlo_programs.first_steps), None,
        "check.eq, exactly, of the numbers after uniform_dequantize", "stablehlo.uniform_quantize", "stablehlo",
        "openxla/stablehlo, stablehlo/testdata/quantized, 106 of 108 programs: 45 of convolution, 27 of dot_general, "
        "34 of gather; Apache-2.0; described in `benchmarks/suites/stablehlo_quantized.json`", {},
        stablehlo_programs.power, stablehlo_programs.remark,
    )  # fmt: skip
    if tosa:
        found["tosa"] = Measured(
            "TOSA's RESCALE", partial(listed, own.tosa_tests, tosa), None,
            "exactly, with what its reference model gives", "tosa.RESCALE", "tosa",
            "tosa-tools 2026.8.0, `tosa_verif_build_tests --filter rescale --test-type positive`, the default seed; "
            "Apache-2.0", {},
        )  # fmt: skip
    return found


def listed(make: Callable[..., Any], *arguments: Any) -> list[OwnTest]:
    return list(make(*arguments))


def measure(one: Measured) -> dict[str, Any]:
    """The power of a suite's tests, and the fewest vectors that stop what passes them."""
    tests = one.tests()
    power, vectors = one.power() if one.power else power_of(tests, one.near), one.vectors(tests)
    sayable = [case for case in vectors if not form_problem(case, SUITES[one.suite])]
    stops = [stopping(found, None) for found in answered(sayable)]
    known = frozenset[WrongArithmetic]().union(*(found.exactly for found in stops))
    further = fewest_cases(sayable, one.suite, beyond=power.seen) if known - power.seen else None
    return {
        "title": one.title,
        "source": one.source,
        "compares": one.how,
        **({"remark": one.remark()} if one.remark else {}),
        "operator": one.operator,
        "tests": power.tests,
        "elements": power.elements,
        "wrong_expectations": list(power.wrong),
        "vectors": len(sayable),
        "arithmetics": [fate(name, power) for name in sorted_names(known)],
        "suite": one.suite,
        "fewest": further is None or further.is_fewest,
        "cases": [
            {"case": found.case.id, "elements": found.case.size} for found in (further.chosen if further else ())
        ],
        "left": [name.text for name in (further.hidden if further else ())],
    }


def fate(name: WrongArithmetic, power: Power) -> dict[str, Any]:
    """What becomes of a wrong arithmetic that some vector stops."""
    word = "stopped" if name in power.seen else "hidden" if name in power.exactly else "passes"
    return {"cause": name.cause, "form": name.form, "sentence": name.text, "fate": word}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosa", type=Path)
    parser.add_argument("suites", nargs="*")
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known = measured(given.tosa)
    for name in given.suites:
        results[name] = measure(known[name])
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(name, len(results[name]["cases"]), flush=True)
    PAGE.write_text(page(results), encoding="utf-8")
    for path in READY.rglob("*.*"):
        path.unlink()
    for name, content in ready_files(results).items():
        (READY / name).parent.mkdir(parents=True, exist_ok=True)
        (READY / name).write_bytes(content)


HEAD = """# What other suites' tests stop

Made by `python benchmarks/suites_page.py`; not edited by hand.

A conformance test stops a wrong arithmetic if the arithmetic's result fails it. This page takes the tests of other
suites as they are and asks which wrong arithmetics pass. The arithmetics are those by which Tiebreak names causes:
other rounding modes, reciprocals, other precisions, wrong clamps, axes, zero points. Only those count that some golden
vector of the same types stops, if the suite's form can say it. A mistake that is known in two forms counts twice.

A suite's runner may have a tolerance. *Pass* counts what passes with it, *exactly* what would pass if results were
compared exactly. *Cases* is how many golden vectors stop the rest, and the fewest that do, by an exact search.

`benchmarks/suites/ready` has the cases that each suite lacks in the suite's own form, ready to send: node tests in
Python for ONNX, a list in JavaScript for WPT, programs for StableHLO.

| suite | tests | elements | wrong arithmetics | pass | exactly | cases |
| --- | --- | --- | --- | --- | --- | --- |
"""
SEND = """
These golden vectors stop what passes. They are in `benchmarks/suites/ready/{folder}`, written with
`tiebreak vectors export FOLDER --format {layout}` and a `--case` for each;
see [cases for other suites](offline.md#cases-for-other-suites).

| case | elements |
| --- | --- |
"""
HIDDEN = """
The suite's tolerance hides these from every case:

| what no case stops |
| --- |
"""
PASSING = "| what passes | why |\n| --- | --- |\n"
IN_LOOPS = "rounds-in-"  # what the causes of vector loops begin with


def layout_of(suite: str) -> str:
    """The layout in which a suite takes new tests: ONNX makes its files of tests in Python."""
    return "onnx-node" if suite == "onnx" else SUITES[suite].layout


def ready_files(results: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of the cases that suites lack, by their paths in the folder READY."""
    found = {}
    for one in results.values():
        chosen = tuple(case["case"] for case in one["cases"])
        if chosen:
            with tempfile.TemporaryDirectory() as folder:
                export_cases(plan(Selection(case_ids=chosen, level="")), Path(folder, "new"), layout_of(one["suite"]))
                written = Path(folder, "new", "cases")
                for path in sorted(written.rglob("*.*")):
                    found[f"{one['suite']}/{path.relative_to(written)}"] = path.read_bytes()
    return found


def page(results: Mapping[str, Any]) -> str:
    rows = "".join(f"{summary(one)}\n" for one in results.values())
    return HEAD + rows + "".join(section(one) for one in results.values())


def summary(one: Mapping[str, Any]) -> str:
    fates = [row["fate"] for row in one["arithmetics"]]
    passing, exactly = sum(fate != "stopped" for fate in fates), fates.count("passes")
    cases = f"{len(one['cases'])}{'' if one['fewest'] else ' or fewer'}"
    cells = (one["title"], one["tests"], one["elements"], len(fates), passing, exactly, cases)
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"


def section(one: Mapping[str, Any]) -> str:
    passing = [row for row in one["arithmetics"] if row["fate"] != "stopped"]
    about = [f"Tests: {one['source']}.", f"Compared: {one['compares']}."]
    about += [one["remark"]] if "remark" in one else []
    if one["wrong_expectations"]:
        about.append(f"These tests expect a wrong result: {', '.join(one['wrong_expectations'])}.")
    text = f"\n## {one['title']}\n\n" + "\n\n".join(fill(line, 120, break_long_words=False) for line in about)
    text += "\n\n" + (PASSING + "".join(rows_of(passing)) if passing else "Every wrong arithmetic is stopped.\n")
    if one["cases"]:
        text += SEND.format(folder=one["suite"], layout=layout_of(one["suite"]))
        text += "".join(f"| `{case['case']}` | {case['elements']} |\n" for case in one["cases"])
    if one["left"]:
        text += HIDDEN + "".join(f"| {sentence} |\n" for sentence in one["left"])
    return text


def rows_of(passing: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A row for each arithmetic, and one for all vector loops of which a part rounds in another mode."""
    yield from (row_of(row["sentence"], row["fate"]) for row in passing if not row["cause"].startswith(IN_LOOPS))
    for fate_, count in Counter(row["fate"] for row in passing if row["cause"].startswith(IN_LOOPS)).items():
        yield row_of(f"the tail or the body of a vector loop rounds in another mode: {count} ways", fate_)


def row_of(sentence: str, fate_: str) -> str:
    why = "the tolerance hides it" if fate_ == "hidden" else "no test shows it"
    return f"| {sentence.replace('|', chr(92) + '|')} | {why} |\n"


if __name__ == "__main__":
    main()
