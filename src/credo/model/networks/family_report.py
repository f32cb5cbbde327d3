"""FamilyReport: a fit, family by family. The log-likelihood of a network is their sum.

ln P(rows | θ) = Σ_families Σ_ijk n_ijk ln θ_ijk
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from credo.core.errors import unknown_name
from credo.core.render import Shown, View, number

__all__ = ["FamilyReport"]


_POINTS = {
    "mle": "maximum likelihood",
    "sample": "maximum likelihood, variances divided by n − p",
    "mean": "posterior means",
    "map": "posterior modes",
}


class FamilyReport(Shown, Sequence[Mapping[str, Any]]):
    """The families of a fit: rows used and skipped, parameters, likelihood, evidence.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.K2())
    >>> print(net.record.families)
    family      prior  rows  skipped  parameters  unseen  zeros      ln L  ln evidence
    Pneu        K2()     12        0           1       0      0   -8.1538     -9.23951
    Fev | Pneu  K2()     12        0           2       0      0  -8.15738     -9.72913
                                                            sum  -16.3112     -18.9686
    >>> net.record.families["Fev"]["parents"]
    ('Pneu',)
    """

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[Mapping[str, Any]]) -> None:
        self._items = tuple(items)

    def __getitem__(self, key: Any) -> Any:
        """A family by position, or by the name of its child."""
        if isinstance(key, str):
            for item in self._items:
                if item["child"] == key:
                    return item
            raise unknown_name("Variable", key, [i["child"] for i in self._items], "in the fit")
        return self._items[key]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._items)

    @property
    def lines(self) -> list[str]:
        """The fit in a few plain lines: how much was learned, from what prior, how well."""
        if not self._items:
            return []
        priors = Counter(i["prior"] for i in self)
        if len(priors) == 1:
            said = "no prior" if "none" in priors else f"prior {next(iter(priors))}"
        else:
            said = "priors " + ", ".join(f"{p} ({_many(n)})" for p, n in priors.items())
        points = dict.fromkeys(_POINTS[i["estimate"]] for i in self if i["estimate"] in _POINTS)
        rows = any(i["estimate"] in ("mle", "sample") and i["prior"] != "none" for i in self)
        said += f": {' and '.join(points)}" if points else ""
        said += ", the posterior beside" if rows else ""
        fit = f"log-likelihood {sum(i['log_likelihood'] for i in self):.6f}"
        parts = [i["log_marginal"] for i in self if i["tied"][:1] in ((), (i["child"],))]
        fit += "" if None in parts else f", log-evidence {sum(parts):.6f}"
        whole = "" if any(i["skipped"] for i in self) else "no row skipped"
        free = {i["tied"] or (i["child"],): i["parameters"] for i in self}
        return [
            f"{_many(len(self))}, {number(sum(free.values()))} parameters",
            *(x for x in (said, fit, whole) if x),
        ]

    def _view(self) -> View:
        head = ["family", "prior", "rows", "skipped", "parameters", "unseen", "zeros", "ln L"]
        evidence = any(i["log_marginal"] is not None for i in self._items)
        if evidence:
            head.append("ln evidence")
        rows = []
        for i in self._items[:60]:
            given = f" | {', '.join(i['parents'])}" if i["parents"] else ""
            row = [f"{i['child']}{given}", i["prior"]]
            row += [number(i[k]) for k in ("rows", "skipped", "parameters", "unseen", "zeros")]
            row.append(f"{i['log_likelihood']:.6g}")
            if evidence:
                row.append("" if i["log_marginal"] is None else f"{i['log_marginal']:.6g}")
            rows.append(row)
        last = ["", "", "", "", "", "", "sum", f"{sum(i['log_likelihood'] for i in self):.6g}"]
        if evidence:
            parts = [i["log_marginal"] for i in self if i["tied"][:1] in ((), (i["child"],))]
            last.append("" if None in parts else f"{sum(parts):.6g}")
        note = f"… {len(self) - len(rows)} more" if len(self) > len(rows) else ""
        return View("", head, [*rows, last], range(2, len(head)), note)

    def __repr__(self) -> str:
        return f"FamilyReport({len(self)} families)"


def _many(families: int) -> str:
    return "1 family" if families == 1 else f"{families:,} families"
