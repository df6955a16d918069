"""Whether a submission has a row for every case that was planned, and golden vectors that nobody edited."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tiebreak.conformance.cases.plan import Planning
from tiebreak.conformance.cases.recipes import made_by
from tiebreak.conformance.running.recorded_tables import OF_CASE
from tiebreak.conformance.submissions.refused import Refused
from tiebreak.conformance.submissions.submission import Submission
from tiebreak.golden.case_digests import case_digests, digest_of_digests
from tiebreak.golden.nodes import Case
from tiebreak.golden.untrusted_text import plural

NOT_STORED = ("flags", "clauses")  # what cases.parquet does not keep of a case


def check_vectors(one: Submission) -> str:
    """The golden vectors are this Tiebreak's own; those that it does not have are said."""
    listed, rows = one.manifest["vectors"], vector_ids(one)
    own = case_digests(one.vectors.values())
    for name in sorted(listed.keys() ^ {name for ids in rows.values() for name in ids}):
        what = "is listed, but has no row" if name in listed else "has rows, but is not listed"
        raise Refused(f"the golden vector {name:.200} {what}")
    for name, digest in own.items():
        if listed[name] != digest:
            raise Refused(f"the golden vector {name} was edited: its digest is {listed[name]}, here {digest}")
    for operator, ids in sorted(rows.items()):
        had = one.info["vectors"].get(operator, {"vectors": 0, "sha256": ""})
        if had["vectors"] != len(ids):
            raise Refused(f"{operator}: {len(ids):,} of its {had['vectors']:,} golden vectors have rows")
        if had["sha256"] != digest_of_digests({id_: listed[id_] for id_ in ids}):
            raise Refused(f"{operator}: the run had other golden vectors than the manifest lists")
    unknown = sorted(listed.keys() - own.keys())
    if unknown and is_of_these_sources(one):
        raise Refused(f"{unknown[0]:.200} is no golden vector of Tiebreak {one.info['made_by']['tiebreak']:.40}")
    said = f"{plural(len(own), 'golden vector')}, none edited"
    if not unknown:
        return said
    return f"{said}; {plural(len(unknown), 'other')} that this Tiebreak does not have, such as {unknown[0]:.200}"


def vector_ids(one: Submission) -> dict[str, set[str]]:
    """The ids of the golden vectors that have rows, by operator."""
    results = one.run.results
    own = results[results["origin"] == "vector"][["operator", "case"]].drop_duplicates()
    found: dict[str, set[str]] = defaultdict(set)
    for operator, name in zip(own["operator"].astype(str), own["case"].astype(str), strict=True):
        found[operator].add(name)
    return found


def is_of_these_sources(one: Submission) -> bool:
    """Whether the run was made by exactly this Tiebreak."""
    return all(one.info["made_by"][name] == made_by()[name] for name in ("tiebreak", "sources"))


def check_cases(one: Submission) -> str:
    """What the rows say of their cases is so."""
    names = [name for name in OF_CASE if name in one.run.results]
    told = one.run.results[names].astype(str).drop_duplicates()
    known = {**one.made, **one.vectors}
    for row in told.to_dict("records"):
        case = known.get(row["case"])
        if case is not None:
            refuse_texts(case, row)
        elif row["origin"] != "vector":
            raise Refused(f"{row['case']:.200}: it has rows, but cases.parquet does not have it")
    return f"{plural(len(told), 'case')} as they say"


def refuse_texts(case: Case, row: Mapping[Any, str]) -> None:
    """Raise Refused for the first text of a row that is not the case's."""
    for name, told in row.items():
        stored = name not in NOT_STORED or case.origin == "vector"
        if stored and told != OF_CASE[name](case):
            raise Refused(f"{case.id}: its {name} is {told!r:.80}, not {OF_CASE[name](case)!r:.80}")


def check_planned(one: Submission) -> str:
    """Every case that was planned for a backend has a row, and no other case has one."""
    rows = {name: Counter[str]() for name in one.backends}
    results = one.run.results
    for backend, case in zip(results["backend"].astype(str), results["case"].astype(str), strict=True):
        rows[backend][case] += 1
    check_claims(one)
    planned, exact = planned_cases(one)
    for name, told in one.backends.items():
        wanted = Counter(case.id for case in planned if is_claimed(told, case.node.operator))
        checked = Counter({case: n for case, n in rows[name].items() if exact or case in wanted or case in one.made})
        refuse_difference(name, wanted, checked)
    total = plural(len(results), "row")
    if exact and not one.selection.level:
        return f"{total}: all golden vectors chosen, and no others; none was generated"
    if exact:
        return f"{total}: all cases planned at level {one.selection.level}, and no others"
    return f"{total}; planned by other versions, so that only the cases known here and in the run were looked for"


def check_claims(one: Submission) -> None:
    """Each backend claims what it says that it claims, and has rows of nothing else."""
    results = one.run.results[["backend", "operator"]].astype(str).drop_duplicates()
    for backend, operator in results.itertuples(index=False):
        if not is_claimed(one.backends[backend], operator):
            raise Refused(f"{backend}: it has rows of {operator}, which it does not claim")
    for name, told in one.backends.items():
        for operator in (*told["claims"], *told["maps"]):
            if not is_claimed(told, operator):
                raise Refused(f"{name}: it names a document for {operator}, which it does not claim")


def is_claimed(backend: Mapping[str, Any], operator: str) -> bool:
    return backend["claimed"] is None or operator in backend["claimed"]


def planned_cases(one: Submission) -> tuple[list[Case], bool]:
    """The cases of the run's selection, and whether they are exactly those that its Tiebreak planned.

    Another version of Tiebreak may have other vectors, another Hypothesis other generated cases. Then the golden
    vectors that both have are planned, and the cases that the run brought.
    """
    claims = [told["claimed"] for told in one.backends.values()]
    claimed = None if None in claims else {operator for claim in claims for operator in claim}
    with Planning(one.selection, claimed, alone=True) as planning:
        stored = list(planning.stored)
        if one.info["made_by"] == made_by():
            return [*stored, *planning.rest()], True
    if not is_of_these_sources(one):
        stored = [case for case in stored if case.id in one.vectors]
    return [*stored, *one.made.values()], False


def refuse_difference(backend: str, wanted: Counter[str], rows: Counter[str]) -> None:
    missing, more = wanted - rows, rows - wanted
    if missing:
        lacking = f"{missing.total():,} of {wanted.total():,} planned cases have no row"
        raise Refused(f"{backend}: {lacking}: {some(missing)}")
    if more:
        raise Refused(f"{backend}: {plural(more.total(), 'row')} more than cases were planned: {some(more)}")


def some(cases: Iterable[str]) -> str:
    return f"{min(cases):.200} and others" if len(list(cases)) > 1 else f"{min(cases):.200}"
