"""Eight threads, and a fork, give the same answers."""

import multiprocessing
import sys
import threading

import numpy as np
import pytest
from tests.unit.predict.joint import Joint, random_evidence, random_network, rows_of


def questions(net):
    rng = np.random.default_rng(3)
    joint = Joint(net)
    found = [e for e in (random_evidence(net, rng) for _ in range(120)) if joint.evidence(e) > 0]
    return found[:90]  # more than the plans that are kept


def answers(net, asked):
    out = []
    for evidence in asked:
        every = net.marginals(evidence)
        out.append(
            (
                net.log_evidence(evidence),
                {n: d.p.tobytes() for n, d in every.items()},
                net.mpe(evidence).log_p,
            )
        )
    return out


def test_eight_threads_ask_one_network():
    exact = answers(random_network(5, 8), questions(random_network(5, 8)))
    net = random_network(5, 8)  # nothing compiled yet
    asked = questions(net)
    found, start = {}, threading.Barrier(8)

    def run(k):
        start.wait()
        turned = asked[k * 11 :] + asked[: k * 11]
        got = answers(net, turned)
        found[k] = got[len(asked) - k * 11 :] + got[: len(asked) - k * 11]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == list(range(8)) and all(found[k] == exact for k in found)


@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.5])
def test_rows_are_the_same_on_any_number_of_threads(gaps):
    net = random_network(6, 7)
    rows = rows_of(net, Joint(net), np.random.default_rng(0), 700, gaps)
    one = net.predict_proba(rows, "v0")
    for threads in (2, 8):
        np.testing.assert_array_equal(net.predict_proba(rows, "v0", threads=threads), one)
        assert net.log_likelihood(rows, threads=threads) == pytest.approx(
            net.log_likelihood(rows), rel=1e-12
        )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no fork")
def test_a_fork_gives_the_same_answers():
    net = random_network(6, 8)
    rows = rows_of(net, Joint(net), np.random.default_rng(0), 300, 0.5)
    asked = questions(net)[:10]
    before = answers(net, asked), net.predict_proba(rows, "v0", threads=4)
    pipe, end = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=lambda: end.send((answers(net, asked), net.predict_proba(rows, "v0", threads=4)))
    )
    child.start()
    assert pipe.poll(60)
    after = pipe.recv()
    child.join(10)
    assert after[0] == before[0]
    np.testing.assert_array_equal(after[1], before[1])
