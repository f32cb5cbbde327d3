"""The schemas of `--json`: what each command prints for machines.

Every document begins with `"credo": {"schema": "credo.ask", "version": 1}`. A key that is there
keeps its name and meaning within a version; new keys may come. docs/json.md is made from this, and
the tests hold the commands to it.

A line is a key (`?`: it may be absent), its type and what it is; deeper lines are the keys of what
it holds. `x[]` is a list of x, `{x}` a mapping from text to x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from credo.cli.options import JSON_VERSION

__all__ = ["SCHEMAS", "schema_of"]

Json = dict[str, Any]
Line = tuple[int, str, str, str, str]  # how deep, key, "?" or "", type, what it is

_LINE = re.compile(r"^( *)(\S+?)(\??): (\S+) ?(.*)$", re.MULTILINE)
_KINDS = {"state": ["string", "number", "boolean"], "cell": ["string", "number", "boolean", "null"]}
_SHARED = {
    "answer": """
        question: string the question, with the evidence of the session
        probability?: number of the event that was asked about
        variables?: string[] what the distribution is of
        distribution?: object[] the distribution that was asked for
            state: string|number|boolean|array a state, or one each
            p: number its probability
            low?: number the interval's lower end
            high?: number the interval's upper end
        states?: {state} the most probable states, for argmax and mpe
        log_p?: number ln P(states, evidence)
        mean?: number|array of a continuous variable
        variance?: number|array of a continuous variable
        quantiles?: {number} of a number with a scale, by their shares
        bins?: {number} the probability of each interval of a number in bins
        interval?: interval a credible interval
        bounds?: number[] of a counterfactual: what holds whatever the functions
        mean_interval?: interval a credible interval
        sd_interval?: interval a credible interval
        approximation?: object how it was found, and its error
        notes?: string[] what was noticed
        account?: string with --explain: how the answer was found
        found?: string what learning found wrong with the variables of the question
    """,
    "finding": """
        kind: string the section it comes from
        severity: string problem, warning, note or good
        sentence: string what was found
        number: number|string|null the number in it
        advice: string what to do
        where: string|array|null variables or rows
        variables: string[] the variables it is about
        p: number|null the adjusted p of its test, where there is one
    """,
    "interval": """
        level: number the probability inside, e.g. 0.95
        low?: number|array the lower end
        high?: number|array the upper end
        draws: integer parameter draws it was made from
        error: number how far the ends may be off, from the number of draws
    """,
}
_KEYS = {
    "schema": """
        source: string the file or table
        rows: integer how many
        variables: object[] the columns that became variables
            name: string its name
            kind: string discrete or continuous
            states: state[] its states, in order
            ordered: boolean whether the states have an order
            missing_rate: number share of missing cells
        columns: object[] every column of the table
            name: string its name
            kind: string what it was taken as
            used: boolean whether it became a variable
            reason: string why
            missing: integer missing cells
            missing_as: {integer} what stood for missing
            notes: string[] what was noticed
        notes: string[] what was noticed
    """,
    "learn": """
        output: string|null the file that -o named
        how: string the search and the score
        score: number of the graph, larger is better
        reason: string why the search stopped; 'interrupted' for Ctrl-C
        seconds: number how long it took
        proven: boolean whether no other graph scores higher
        bound: number|null of exact: what no graph scores above; null if unknown
        nodes: string[] names of variables
        edges: string[][] the edges
        parameters: integer numbers the network could choose
        notes: string[] what was noticed
        findings?: finding[] with --check: worst first
    """,
    "score": """
        name: string the score
        score: number of the whole graph, larger is better
        families: object[] the score, family by family
            child: string a variable
            parents: string[] names of variables
            score: number its part
        parts: {number} parts of the score, where it has some
        notes: string[] what was noticed
    """,
    "fit": """
        model: string|null the file that was written
        rows: number rows it was learned from, weights added
        log_likelihood: number|string|null ln P(rows | parameters)
        log_marginal: number|string|null ln P(rows | prior)
        notes: string[] what was noticed
        families: object[] the fit, family by family
    """,
    "ask": """
        model: string the model, as it was named
        answers: answer[] one for each question
    """,
    "causes": """
        output: string|null the file that -o named
        nodes: string[] names of variables
        edges: object[] the pairs that no set of the others makes independent
            a: string one end
            b: string the other
            mark_a: string at a: '>' a does not cause b; '-' it does; 'o' open
            mark_b: string at b, alike
            means: string what the marks say
        independent: object[] the pairs that are not joined
            a: string one
            b: string the other
            given: string[] what makes them independent
        text: string the class as DAGitty's text
        notes: string[] what was noticed
    """,
    "identify": """
        graph: string the graph, as it was read
        question: string the question
        identified: boolean whether there is a formula
        formula: string|null the formula
        latex: string|null the question and its formula in LaTeX
        reason: string why it holds, or why there is none
        adjustment: array|null what the formula adjusts for
        hedge: array|null the larger and the smaller set that leave the effect open
        adjustment_sets: string[][] the minimal sets
        front_doors: string[][] the minimal front-door sets
        instruments: object[] variables that move x and touch y in no other way
            name: string its name
            given: string[] what must be known
    """,
    "effect": """
        x: string what is set
        y: string what is looked at
        values: state[] from which to which value x is set
        outcome: string|number|boolean|null the state of y; null for the mean of a number
        set: array|null P(outcome | do(x)) for each value, or the mean
        seen: array|null the same where x is only seen
        difference: object|null of the two: its value, and its interval
        ratio: object|null of the two, with its interval
        odds_ratio: object|null of the two, with its interval
        formula: string|null what was evaluated
        reason: string why it holds
        bounds?: number[] of the difference, with --by instrument
        bounds_within?: array|null the interval of the ends of the bounds
        instrument?: string the instrument
        adjustment?: array|null what the formula adjusts for
        positivity?: object[] cells without rows that the formula needs
            cell: {state} the states of the cell
            of: string the variable whose distribution is needed there
            rows: number rows that differ from it in one variable alone
        confounding?: number|null bits between what is seen and what setting does
        e_value?: number|null how strong a hidden cause must be to explain the ratio away
        e_value_of_interval?: number|null the same for the end of its interval next to 1
        necessity?: array|null bounds of the probability of necessity
        sufficiency?: array|null bounds of the probability of sufficiency
        notes?: string[] what was noticed
    """,
    "em": """
        model: string|null the file that was written
        rows: number rows it was learned from, weights added
        log_likelihood: number|string|null ln P(rows | parameters)
        log_marginal: number|string|null ln P(rows | prior)
        notes: string[] what was noticed
        families: object[] the fit, family by family
        trace: number[] at the start and after each iteration
        reason: string why the climb stopped; 'interrupted' for Ctrl-C
        seconds: number how long it took
        seed: integer|null the seed
        iterations: integer how many
        missing: {number} the share of missing cells by variable
    """,
    "impute": """
        model: string the model, as it was named
        rows?: integer how many
        filled?: {integer} gaps filled, by column
        files?: string[] what was written
        table?: {cell}[] the filled rows, when no file was written
        gaps?: object[] with --method posterior: what is known of each gap
            row: integer its number in the table, from 1
            variable: string its column
            distribution?: {number} the probability of each state
            mean?: number of a continuous gap
            variance?: number of a continuous gap
    """,
    "show": """
        model: string the model, as it was named
        kind?: string of other models: MarkovNetwork, FactorGraph or DecisionNetwork
        parameters?: integer numbers the network could choose
        variables: object[] in order
            name: string its name
            kind: string discrete or continuous
            states: state[] its states, in order
            parents?: string[] names of variables
        edges?: string[][] the edges
        decisions?: string[] of a decision network, in the order they are taken
        utilities?: string[] of a decision network
        potentials?: object[] of an undirected model
            name: string its name
            variables: string[] names of variables
    """,
    "average": """
        source: string where the rows came from
        score: string the score that weighs graphs
        prior: string the prior of graphs
        method: string exact or sampled
        rows: number the rows
        graphs: integer graphs that are here with their weights
        edges: object[] every edge, the most probable first
            parent: string the name of a variable
            child: string the name of a variable
            p: number its probability
            error: number the Monte Carlo error of that, 0 where exact
        best: string[][] the edges of the graph with the highest weight
        notes: string[] what was noticed
        details: object chains, R̂, effective samples, families and more
        seconds: number how long it took
        output: string|null the file that was written
        touched: {object} for each --context, how probably it touched each variable
    """,
    "cut": """
        by: string|null the class that the intervals are to tell
        rows: integer the rows
        cuts: {number[]} the cut points of each column
        output: string|null the file that was written
    """,
    "sample": """
        model: string the model, as it was named
        seed: integer the seed
        rows: integer|{cell}[] the rows, or how many were written
        output?: string the file that was written
    """,
    "classify": """
        target: string the class
        method: string the classifier
        classes: state[] in the order of p
        cross_validation?: {number} accuracy, log_loss, brier, …
        predictions?: object[] with --predict
            class: cell a state, in its own type; null where --reject costs less than any
            p: number[] one for each class
        predictions_output?: string the file that the predictions were written to
        output: string|null the file that the model was written to
        notes: string[] what was noticed
    """,
    "sql": """
        model: string the model file
        target: string the variable whose states are asked for
        dialect: string duckdb, spark, postgres or bigquery
        table: string the table that is scored
        sql: string the statement
        output: string|null the file that was written
    """,
    "convert": """
        from: string the file that was read
        to: string the file that was written
        notes: string[] what was noticed
    """,
    "fit-markov": """
        model: string|null the file that was written
        method: string likelihood or pseudo-likelihood
        score: number what was climbed
        iterations: integer how many
        reason: string why it stopped
        seconds: number how long it took
        notes: string[] what was noticed
        weights: {number} the weights of features, where it has some
        variables: string[] names of variables
        edges: string[][] the edges
    """,
    "check": """
        rows: number rows it was checked on
        variables: integer how many
        how: string which rows judged what
        verdict: string the report in a sentence
        findings: finding[] worst first
        held_out?: object|array log-likelihood of rows not seen, beside baselines
        predictive?: object|array statistics of generated tables
        calibration?: object|array of each variable given the others
        independence?: object|array tests of what the graph implies
        edges?: object|array how often each edge comes back
        parameters?: object|array how open each is
        influence?: object|array of single rows
        outliers?: object|array rows by surprise
        costs?: object|array what decisions cost, where costs were given
        left_out: {string} sections that were not made
        notes: string[] what was noticed
        seconds: number how long it took
        seed: integer|null the seed
        model: string the model, as it was named
    """,
    "compare": """
        models: object[] in order
            name: string its file
            parameters: integer how many
        graphs: object[] edge by edge
            first: string a model
            second: string another
            shd: integer the structural Hamming distance
            shared: string[][] the edges
            reversed: string[][] the edges
            missing: string[][] the edges
            extra: string[][] the edges
        rows: number|null rows they were compared on
        scores: object[] best first
        how: {string} how each model was judged
    """,
    "cluster": """
        method: string how the rows were grouped
        k: integer how many clusters
        sizes: number[] of each cluster
        columns: string[] names of variables
        quality: {number|string|null} how good it is
        profiles: object[][] what sets each cluster apart
            column: string its name
            bits: number how far it sets the cluster apart
            inside: {number} in the cluster
        rows: integer[] numbers of the rows in the table, from 1
        labels: integer[] of each row
        membership: array|null P(cluster | row), where the method has it
        seed: integer|null the seed
        reason: string why it stopped
        notes: string[] what was noticed
        seconds: number|null how long it took
        output: string|null the file that was written
        candidates?: object with --k auto
            by: string how k was chosen
            k: object figures of each k
        stability?: object with --stability
            mean: number over resamples
            sd: number over resamples
    """,
    "sensitivity": """
        model: string the model, as it was named
        question: string the question
        answer: number its probability
        threshold: number the probability that would change what is done
        fixed: integer parameters that cannot move
        range: string over what the parameters range
        parameters: object[] those that move the answer most first
    """,
    "decide": """
        model: string the model, as it was named
        given: {state} what is known
        utility?: number the expected utility of the best strategy
        exact?: boolean whether no other strategy is better
        interval?: interval of the expected utility, where parameters were learned
        p_best?: number P(no other strategy is better)
        regret?: number what not knowing the parameters is expected to lose
        policy?: object[] the best strategy, decision by decision
            decision: string its name
            knows: string[] what it looks at
            situations: object[] those that can occur
                known: {state} what is known
                choice: state what to do
                probability: number of the situation
                utility: number expected then
        answers?: object[] one for each question
            question: string the question
            value?: number an expected utility or a probability
            interval?: interval a credible interval
            choice?: state for argmax EU
            decision?: string whose choices are ranked
            ranking?: object[] best first
                choice: state an option
                utility: number expected
                p_best?: number P(it is the best)
                interval?: interval of its expected utility
            distribution?: object[] of a probability question
                state: string|number|boolean|array a state, or one each
                p: number its probability
        information?: object[] with --value: most worth first
            variables: string[] what would be known
            value: number in units of utility
            cost: number its price
            net: number the value less the cost
        next?: object with --next
            question: string|null the variable to ask for; null: decide now
            value: number what the plan gains less its costs
            bound: number no plan gains more
            exact: boolean whether the plan is the best of all
        sensitivity?: object[] with --sensitivity: what moves the utility most first
            parameter: string a probability or a number of a utility
            value: number now
            bottom: number its range's lower end
            top: number its range's upper end
            low: number the expected utility at the lower end
            high: number the expected utility at the upper end
            below: number|null where another strategy is better, below
            above: number|null where another strategy is better, above
            change: string what is done then
    """,
    "value": """
        model: string the model, as it was named
        target: string the variable
        given: object what is known
        uncertainty: number of the target, in bits
        gains: object[] best first
            variable: string its name
            bits: number what it would tell on average
            share: number of the uncertainty
            cost: number what observing it costs
        left_out: string[] variables that were not looked at
    """,
    "report": """
        model: string the model, as it was named
        data: string|null the table
        report: string the file that was written
        bytes: integer its size
    """,
    "studio": """
        model: string the model, as it was named
        data: string|null the table, as it was named
        url: string the address, with its token
    """,
    "demo": """
        play_tennis_rows: integer rows of the table
        fever_given_pneumonia: object mle and posterior
        pneumonia_given_fever_and_cough: object p and interval
        next_candy_lime: number after five limes
        bags: {number} the posterior of each bag
        number_game: object the concept and its probability
        burglary_given_both_calls: number p
        no_tennis_today: number p
        titanic?: object the main job: a network from a table with gaps
            rows: integer rows of the table
            edges: string[][] the edges
            score: number of the graph
            answers: {{number}} by question
            model?: string the file that was written
            report?: string the page that was written
    """,
    "completion": """
        shell: string bash, zsh or fish
        use: string the line for the shell's own file
        script: string the script
    """,
}


def _object(lines: list[Line]) -> Json:
    """An object with these keys."""
    properties: Json = {}
    required = []
    while lines:
        depth, key, may, kind, says = lines[0]
        end = next((i for i, line in enumerate(lines) if i and line[0] <= depth), len(lines))
        properties[key] = _type(kind, lines[1:end]) | {"description": says}
        required += [] if may else [key]
        lines = lines[end:]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _type(kind: str, inside: list[Line]) -> Json:
    """A type in JSON Schema's words."""
    if kind.endswith("[]"):
        other, bar, item = kind[:-2].rpartition("|")
        return {"type": [other, "array"] if bar else "array", "items": _type(item, inside)}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _type(kind[1:-1], inside)}
    if kind in _SHARED:
        return _object(_lines(_SHARED[kind]))
    if inside:
        return _object(inside)
    kinds = _KINDS.get(kind, kind.split("|"))
    return {"type": kinds[0] if len(kinds) == 1 else kinds}


def _lines(text: str) -> list[Line]:
    return [(len(m[1]), m[2], m[3], m[4], m[5]) for m in _LINE.finditer(text)]


def schema_of(command: str) -> Json:
    """The JSON Schema of what a command prints with --json.

    >>> schema_of("ask")["properties"]["credo"]["properties"]["schema"]
    {'const': 'credo.ask'}
    """
    own = {"schema": {"const": f"credo.{command}"}, "version": {"const": JSON_VERSION}}
    says = "which schema this is, and its version"
    head: Json = {
        "credo": {
            "type": "object", "properties": own, "required": list(own), "description": says,
        },
        "version": {"const": JSON_VERSION, "description": "the same number"},
    }  # fmt: skip
    out = _object(_lines(_KEYS[command]))
    out["properties"] = head | out["properties"]
    out["required"] = [*head, *out["required"]]
    title = f"credo {command}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **out}


SCHEMAS: Mapping[str, Json] = MappingProxyType({name: schema_of(name) for name in _KEYS})
"""The schema of every command by its name."""
