"""The library's advice in the words of the command line: `--prior bdeu`, not `prior=cr.BDeu(1)`."""

from __future__ import annotations

import re
import shlex
from typing import Any

__all__ = ["in_options"]


def _kinds(found: re.Match[str]) -> str:
    """Several columns by kind, an option for each."""
    pairs = re.findall(r"'([^']+)': '([^']+)'|\"([^\"]+)\": '([^']+)'", found[0])
    given = [(a or c, b or d) for a, b, c, d in pairs]
    return " ".join(
        f"--drop {shlex.quote(n)}" if k == "drop" else f"--kind {shlex.quote(f'{n}={k}')}"
        for n, k in given
    )


_ADVICE: tuple[tuple[str, Any], ...] = (
    (r"schema=\{(?:'[^']+'|\"[^\"]+\"): '[a-z]+'(?:, (?:'[^']+'|\"[^\"]+\"): '[a-z]+')+\}", _kinds),
    (r"make states of them with schema=\{'([^']+)': 'discrete'\}",
     r"make states of them with --kind '\1=discrete'"),
    (r"\bragged=(?:'skip')?", "--skip-ragged"),
    (r"schema=\{'(.+?)': 'discrete'\} \(or 'continuous'(?:, [^)]*)?\)", r"--kind '\1=discrete'"),
    (r"schema=\{'(.+?)': \['no', 'yes'\]\} \(its states, or 'continuous'\)",
     r"--states '\1=no,yes' (its states), or --kind '\1=continuous',"),
    (r"schema=\{'(.+?)': \['no', 'yes'\]\}", r"--states '\1=no,yes'"),
    (r"schema=\{'(.+?)': 'drop'\}", r"--drop '\1'"),
    (r"schema=\{'(.+?)': 'continuous'\} or 'drop'", r"--kind '\1=continuous' or --drop '\1'"),
    (r"schema=\{'(.+?)': '(.+?)'\}", r"--kind '\1=\2'"),
    (r"the states in schema=", "its --states"),
    (r"Name the kinds in schema= to use them", "Name their kinds with --kind to use them"),
    (r"Name the kinds in schema=", "Name kinds with --kind"),
    (r"[Rr]ead the table with the (?:network|model)'s schema: cr\.read\(…, net\.schema\)",
     "Use the same columns and states (--kind, --states)"),
    (r"encoding='(.+?)'", r"--encoding \1"),
    (r"method=['\"]([\w-]+)['\"]", r"--method \1"),
    (r"cr\.learn\(rows, search='([\w-]+)'\)", r"credo learn TABLE --search \1"),
    (r"search=['\"]([\w-]+)['\"]", r"--search \1"),
    (r"missing=['\"]([\w-]+)['\"]", r"--missing-cells \1"),
    (r"potentials=['\"]([\w-]+)['\"]", r"--potentials \1"),
    (r"name it in missing= if it is missing \(missing=\[[^]]*'\?', '(.*?)'\] keeps .*?\)",
     r"take it with --missing '+\1' if it is missing"),
    (r"name it in missing= to take it as missing",
     "take it as missing with --missing TEXT (+TEXT keeps the other words)"),
    (r"\bnormalise=True", "--normalise"),
    (r"decimal=','", "--decimal ,"),
    (r"delimiter=('.+?')", r"--delimiter \1"),
    (r"cr\.fit\(net, rows, prior=cr\.BDeu\(1\)\)",
     "credo fit MODEL TABLE --prior bdeu -o new.credo"),
    (r"cr\.fit\(dag, rows, prior=cr\.(?:BDeu\(1\)|LinePrior\(\))\)",
     "credo fit GRAPH TABLE --prior bdeu"),
    (r"cr\.learn\(rows, parameters=cr\.BDeu\(1\)\)", "credo learn TABLE"),
    (r"estimate='(mean|map|mle)'", r"--estimate \1"),
    (r"prior=\{.*?: cr\.LinePrior\(.*?\)\}", "--prior bdeu"),
    (r"prior=cr\.BDeu\(1\)", "--prior bdeu"),
    (r"cr\.BDeu\(1\)", "--prior bdeu"),
    (r"cr\.Laplace\(1\)", "--prior laplace"),
    (r"cr\.fit_markov\(graph, rows\)", "credo fit-markov TABLE --like MODEL"),
    (r"\bcr\.fit learns", "credo fit learns"),
    (r"EM \(cr\.em\)", "EM (credo em)"),
    (r"\bdraws=(\d+)", r"--draws \1"),
    (r"\bAsk with interval=0\.95", "Ask with --interval 0.95"),
    (r"\bpath='(.+?)'", r"-o \1"),
    (r"target='…'", "--target NAME"),
    (r"\bmax_parents=", "--max-parents"),
    (r"^max_parents must", "--max-parents must"),
    (r"^k_max must", "--k-max must"),
    (r"^max_iter must", "--budget must"),
    (r"^(ess|alpha|draws|folds|level|threshold|error|budget|method|scale|distance|k|height|"
     r"stability|memory) must",
     r"--\1 must"),
    (r"\bgoes with interval=\. Give a level, such as interval=0\.95",
     "goes with --interval. Give a level, such as --interval 0.95"),
    (r"or leave draws out", "or leave --draws out"),
    (r"^order= must", "--order must"),
    (r"^ess= goes with", "--ess goes with"),
    (r"^required= has", "--require has"),
    (r"^forbidden= has", "--forbid has"),
    (r"^map\(\) is for discrete", "argmax is for discrete"),
    (r"Ask for p\('([^']+)'\): its mean, its interval, or its parts", r"Ask for P(\1)"),
    (r", which \.components lists", " (--details lists them)"),
    (r"Its \.pdf\(x\) is the density at a number; (P\(.+\)) is a range", r"A range: \1"),
    (r"required=, forbidden= or tiers=", "--require, --forbid or --tier"),
    (r"required= and forbidden=", "--require and --forbid"),
    (r"hidden= is for", "--hidden is for"),
    (r"hidden=\{'(.+?)': (\d+)\}", r"--hidden '\1=\2'"),
    (r", or (?:use )?stream\.load\(\)", ", or more --memory"),
    (r"Use stream\.load\(\)", "Use more --memory"),
    (r" \(table\.take\)| \(cr\.which_k on a sample helps\)", ""),
    (r"Leave it out \(table\.select\)", "Leave it out with --drop"),
    (r" Or give graph=\.", ""),
    (r"average=True is for cr\.mixture",
     "average is for mixtures in Python"),
    (r"(?<!got )\bby='([\w-]+)'", r"--by \1"),
    (r"\b(scale|distance)='(\w+)'", r"--\1 \2"),
    (r"Give prior=net, or use 'bdeu'", "Give --prior-network FILE, or use --score bdeu"),
    (r"got prior=None", "got none"),
    (r"prior= goes with", "--prior-network goes with"),
    (r"\bstart= would", "--start would"),
    (r"\bcandidates=", "--candidates"),
    (r"\b(scale|distance)=", r"--\1 "),
    (r"\bk=(?=\d)", "--k "),
    (r"\bgamma=(?= and)", "--set gamma="),
    (r"affinity='(\w+)'", r"--set affinity=\1"),
    (r"\bGive k=", "Give --k"),
    (r"\bUse k=(?=\.|$)", "Use --k"),
    (r"\bcut by k= or by height=", "cut by --k or by --height"),
    (r"\bheight= cuts a tree", "--height cuts a tree"),
    (r"^by= chooses k\b", "--by chooses k"),
    (r"\bheight= cuts the tree", "--height cuts the tree"),
    (r"\bk_max= allows", "--k-max allows"),
    (r"\blarger gamma=", "larger --set gamma="),
    (r"\bby= and criterion=", "--by and --set criterion="),
    (r"\bcovariance='(\w+)'", r"--set covariance=\1"),
    (r"\bgot by=", "got --by "),
    (r"\b(landmarks|neighbours|starts)=", r"--set \1="),
    (r"save to_network\(\) of it", "convert it with --directed"),
    (r"If (?:it|the file) can be trusted, give limits=Limits\(.*?\)",
     "If it can be trusted, read it in Python with larger limits"),
    (r"\b(missing|memory|weights|delimiter|decimal|encoding|steps|start|budget|stability)=(?=\W|$)",
     r"--\1"),
)  # fmt: skip


def in_options(text: str) -> str:
    """A sentence of the library as the command line says it.

    >>> in_options("Give one, such as prior=cr.BDeu(1), or use estimate='mle'.")
    'Give one, such as --prior bdeu, or use --estimate mle.'
    """
    for python, option in _ADVICE:
        text = re.sub(python, option, text)
    return text
