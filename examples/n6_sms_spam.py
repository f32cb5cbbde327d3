"""N6. Real messages: spam or not, by their words, and why.

5,574 text messages (UCI SMS Spam Collection), in ../shared/data/tables where it is; otherwise a few
messages that are written here.
"""

import csv
import gzip
from pathlib import Path

import numpy as np

from credo.estimators import TextNaiveBayes, calibration_report, recalibrated

path = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables" / "sms_spam.csv.gz"
if path.exists():
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
else:
    rows = [["spam", "claim your free prize now"], ["spam", "free tone, claim now"]] * 20
    rows += [["ham", "are you home for lunch"], ["ham", "see you later at the lecture"]] * 20
labels, texts = np.array([r[0] for r in rows]), [r[1] for r in rows]

# Every second message is kept for the test.
clf = TextNaiveBayes().fit(texts[::2], labels[::2])
p = clf.predict_proba(texts[1::2])
right = clf.classes_[p.argmax(axis=1)] == labels[1::2]
print(f"{len(texts[::2]):,} messages, {len(clf.vocabulary_):,} words")
print(f"accuracy {right.mean():.4f} on the other half")
assert right.mean() > 0.97

for label, words in clf.telling_words(8).items():
    print(f"{label}: " + ", ".join(f"{w} ({bits:.1f} bits)" for w, bits in words))

print(f"\n{clf.explain('You have won a free prize, call now to claim')}")

# Messages one after the other, nothing kept: the same model.
stream = TextNaiveBayes().fit(iter(texts[::2]), iter(labels[::2]))
np.testing.assert_array_equal(stream.predict_proba(texts[1::2]), p)

# Words are not independent, so naive Bayes is too sure (slope below 1); isotonic regression helps.
documents = np.array(texts, dtype=object)
before = calibration_report(TextNaiveBayes(), documents, labels)
after = calibration_report(recalibrated(TextNaiveBayes()), documents, labels)
print(f"\nbefore: {before.title}\nafter:  {after.title}")
assert after.log_loss <= before.log_loss + 0.01
