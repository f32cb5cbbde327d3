"""G6. From a table to pictures and a report: play tennis, with what was seen shaded.

The network is learned from the 14 days of the textbook's table, drawn with its beliefs inside the
nodes, before and after the outlook is seen, and written up on one page that any browser opens.
"""

import re
import tempfile
from pathlib import Path

import matplotlib

import credo as cr

matplotlib.use("Agg")
folder = Path(tempfile.mkdtemp(prefix="credo-"))
days = cr.examples.play_tennis()
net = cr.learn(days, search="naive-bayes", target="PlayTennis", score="bdeu", ess=5)

# Beliefs inside the nodes: the bars are the answers of the network, observed nodes are shaded.
seen = {"Outlook": "Sunny", "Wind": "Strong"}
for name, given in (("before", {}), ("after", seen)):
    svg = cr.plot.network_svg(net, given=given, strengths="information", title=name)
    svg.save(folder / f"{name}.svg")
    print(f"{name}.svg: {svg.count('class=' + chr(34) + 'observed')} observed nodes, P(play) = "
          f"{net.p('PlayTennis', given=given)['Yes']:.3f}")  # fmt: skip
    assert svg.count('class="observed"') == len(given)

# The same picture with matplotlib, a table as a heat map, and how the answer moves.
cr.plot.network(net, given=seen).figure.savefig(folder / "network.png")
cr.plot.cpt(net.cpt("Outlook"), interval=0.95).figure.savefig(folder / "outlook.png")
ax = cr.plot.response(net, "PlayTennis", over="Outlook", given={"Wind": "Strong"}, interval=0.95)
ax.figure.savefig(folder / "response.png")

# Everything on one page.
page = cr.write_report(
    net, folder / "tennis.html", days, ["P(PlayTennis=Yes | Outlook=Sunny, Wind=Strong)"]
)
text = page.read_text(encoding="utf-8")
titles = re.findall(r"<h2>(.*?)</h2>", text)
print(f"\n{page.name}: {len(text):,} characters, sections {', '.join(titles)}")
assert "https://" not in text and len(titles) == 11
print(f"The pictures and the page are in {folder}.")
