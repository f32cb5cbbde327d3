"""N6. Important or not: words of a mail, P(word | class) = (n_k + 1) / (n + |V|). (Notes 000, 004.)

Unknown words are skipped, and a mail may have any length.
"""

from credo.estimators import TextNaiveBayes

mails = [
    "Hello, my car is stuck on the highway, it's late",
    "Can you send me the report before the meeting",
    "I wanted to have some information on your offer",
    "Do you offer a discount",
    "I want to offer you a discount on a car",
]
labels = ["important", "important", "not important", "not important", "not important"]
clf = TextNaiveBayes().fit(mails, labels)
print(f"{len(clf.vocabulary_)} words")
for label, words in clf.telling_words(4).items():
    print(f"{label}: {', '.join(w for w, _ in words)}")

new = "My car has a discount sticker, hello?"
print()
print(clf.explain(new))
n = sum(len(m.replace(",", "").replace("'", " ").split()) for m in mails[:2])
at = clf.vocabulary_.index("car")
from math import exp, isclose  # noqa: E402

assert isclose(exp(clf.model_.table[at, 0]), (1 + 1) / (n + len(clf.vocabulary_)))
assert (clf.predict_proba(["zebra"]) == clf.predict_proba([""])).all()
