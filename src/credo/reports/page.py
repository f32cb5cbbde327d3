"""The page around the sections: styles for light, dark and print, a menu, two small helpers.

No address is named in it but its own places, so it opens without a network; the policy in its
head forbids any request.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from credo.reports.markup import Html, join, said, tag

__all__ = ["Section", "page"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report: its place in the page, its heading, its content."""

    id: str
    title: str
    body: Html


_STYLE = """
:root{--paper:#ffffff;--ink:#1b1f24;--soft:#57606a;--line:#d5dae0;--card:#f6f8fa;--accent:#2f6fb0;
--bar:#3b78b5;--track:#e4eaf0;--shade:#d9d9d9;--warn:#9a5b00;--bad:#b3261e;--good:#1a7f37;
--edge:#444444;--heat:59,120,181;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e4e8ec;--soft:#9aa4af;
--line:#333b44;--card:#1c2127;--accent:#79b8ff;--bar:#5a9bd8;--track:#2a323b;--shade:#3c444d;
--warn:#e3a64a;--bad:#ff8a80;--good:#57c27a;--edge:#a9b3bd;--heat:90,155,216}}
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Helvetica,Arial,sans-serif}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.6rem}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .3rem}
h2{font-size:1.3rem;margin:2.6rem 0 .7rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p{margin:.5rem 0}.note,figcaption,footer{color:var(--soft);font-size:.88rem}
a{color:var(--accent)}
nav{position:sticky;top:0;z-index:5;background:var(--paper);border-bottom:1px solid var(--line)}
nav div{max-width:76rem;margin:0 auto;padding:.5rem 1.25rem;display:flex;flex-wrap:wrap;
gap:.15rem 1rem;font-size:.92rem}
nav a{text-decoration:none;padding:.15rem 0}nav a:hover{text-decoration:underline}
.wide,.frame,pre{overflow:auto;max-width:100%}
.wide{margin:.6rem 0;max-height:34rem;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;font-size:.9rem;overflow-wrap:normal}
caption{text-align:left;color:var(--soft);padding:.45rem .7rem;font-size:.88rem}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td{max-width:28rem;overflow-wrap:anywhere;min-width:5.4rem}td.n,.answer td{min-width:3rem}
thead th{position:sticky;top:0;background:var(--card);z-index:1;white-space:nowrap}
tbody tr:last-child td{border-bottom:0}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.heat{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;min-width:5.5rem;
background:linear-gradient(90deg,rgba(var(--heat),.38) var(--p),transparent var(--p))}
.heat small{display:block;color:var(--soft);font-size:.78rem}
.meter{position:relative;display:inline-block;width:9rem;max-width:100%;height:.75rem;
background:var(--track);vertical-align:middle;border-radius:2px}
.meter i{position:absolute;left:0;top:0;bottom:0;background:var(--bar);border-radius:2px}
.meter b{position:absolute;top:.26rem;height:.23rem;background:var(--ink);opacity:.55}
.strip{display:flex;gap:1px;min-width:9rem;max-width:16rem;height:1rem}
.strip i{background:var(--bar);min-width:1px}.strip i:nth-child(even){opacity:.6}
figure{margin:1rem 0}figcaption{margin-top:.35rem}
.frame{border:1px solid var(--line);border-radius:6px;background:var(--paper);max-height:46rem}
.frame svg{display:block;margin:0 auto}.frame.whole svg{max-width:none!important}
.frame img{display:block;margin:0 auto;max-width:100%;height:auto;background:#fff}
details{border:1px solid var(--line);border-radius:6px;margin:.45rem 0;background:var(--paper)}
details>*:not(summary){margin:.6rem .8rem}
summary{cursor:pointer;padding:.45rem .8rem;background:var(--card);border-radius:6px}
summary .note{margin-left:.6rem}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;
font:.86rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre code{white-space:pre;overflow-wrap:normal}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(9.5rem,100%),1fr));gap:.7rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.6rem .9rem}
.card strong{display:block;font-size:1.25rem;font-weight:600}
.card span{color:var(--soft);font-size:.88rem}
.answers{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(26rem,100%),1fr));
gap:.8rem;align-items:start}
.answer{border:1px solid var(--line);border-radius:6px;padding:.6rem .9rem;min-width:0}
.answer h3{margin:.1rem 0 .4rem}.answer .wide{max-height:20rem}
.attention{border-left:4px solid var(--warn);padding:.15rem .8rem}
.bad{border-left:4px solid var(--bad);padding:.15rem .8rem}
.good{border-left:4px solid var(--good);padding:.15rem .8rem}
.index{columns:11rem;font-size:.9rem;margin:.5rem 0;padding:.4rem 1.4rem;max-height:16rem;
overflow:auto;border:1px solid var(--line);border-radius:6px}
.tools{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:.5rem 0}
input[type=search],button{font:inherit;padding:.25rem .6rem;border:1px solid var(--line);
border-radius:6px;background:var(--paper);color:var(--ink);max-width:100%}
button{cursor:pointer;background:var(--card)}
svg .paper{fill:transparent}svg .box{stroke:var(--soft)}
svg .node .box{fill:var(--card)}svg .observed .box{fill:var(--shade)}
svg .ink,svg .heading{fill:var(--ink)}svg .track{fill:var(--track)}svg rect.bar{fill:var(--bar)}
svg .edge path{stroke:var(--edge)}svg .edge polygon{fill:var(--edge)}
svg .reversible polygon{fill:var(--paper);stroke:var(--edge)}
svg .curve{fill:none;stroke:var(--bar);stroke-width:2}
svg .fitted{fill:none;stroke:var(--warn);stroke-width:2}svg .rule{stroke:var(--line)}
footer{margin-top:3rem;padding-top:.8rem;padding-bottom:2.5rem;border-top:1px solid var(--line)}
@media (max-width:40rem){body{font-size:15px}header,main,footer{padding-left:.8rem;
padding-right:.8rem}nav{position:static}nav div{padding:.4rem .8rem}h1{font-size:1.35rem}
td,th{padding:.25rem .45rem}.meter{width:5rem}}
@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;--card:#f4f4f4;--track:#e4e4e4;
--bar:#555;--heat:120,120,120;--edge:#444;--shade:#d9d9d9}nav,.tools{display:none}
.wide,.frame,pre{overflow:visible;max-height:none}pre code{white-space:pre-wrap}
.frame.whole svg{max-width:100%!important;height:auto}h2{break-after:avoid}
tr,figure,.answer{break-inside:avoid}details::details-content{content-visibility:visible}}
"""

# A filter for long tables and lists, the size of the picture, and folded parts open on paper.
_SCRIPT = """
for(const box of document.querySelectorAll('input[data-filter]')){
box.addEventListener('input',()=>{const want=box.value.toLowerCase();
for(const e of document.querySelectorAll(box.dataset.filter))
e.hidden=want!==''&&!e.textContent.toLowerCase().includes(want)})}
for(const b of document.querySelectorAll('button[data-fit]')){
b.addEventListener('click',()=>{
const f=document.getElementById(b.dataset.fit).querySelector('.frame');
const whole=f.classList.toggle('whole');b.textContent=whole?'Fit to the page':'Full size'})}
for(const b of document.querySelectorAll('button[data-open]')){
b.addEventListener('click',()=>{const all=document.querySelectorAll(b.dataset.open);
const open=b.textContent==='Open all';for(const d of all)d.open=open;
b.textContent=open?'Close all':'Open all'})}
const reveal=()=>{const t=document.getElementById(location.hash.slice(1));
if(t&&t.tagName==='DETAILS')t.open=true};addEventListener('hashchange',reveal);reveal();
addEventListener('beforeprint',()=>{
for(const d of document.querySelectorAll('details'))d.open=true});
"""


def page(
    title: str, subtitle: object, sections: Sequence[Section], footer: object, module: str = ""
) -> str:
    """The whole document; `module` is a script of ours that makes a part of it.

    >>> text = page("A <b>", "", [Section("data", "Data", Html("<p>x</p>"))], "")
    >>> "<h1>A &lt;b&gt;</h1>" in text, '<section id="data">' in text
    (True, True)
    """
    scripts = {s: sha256(s.encode("utf-8")).digest() for s in (_SCRIPT, module)}
    hashes = " ".join(f"'sha256-{b64encode(h).decode()}'" for h in scripts.values())
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    made = f'<script type="module">{module}</script>' if module else ""
    menu = join(tag("a", s.title, href=f"#{s.id}") for s in sections)
    body = join(tag("section", join([tag("h2", s.title), s.body]), id=s.id) for s in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{said(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{said(title)}</h1>{said(subtitle)}</header>\n"
        f'<nav aria-label="Sections"><div>{menu}</div></nav>\n'
        f"<main>\n{body}\n</main>\n<footer>{said(footer)}</footer>\n"
        f"<script>{_SCRIPT}</script>\n{made}</body>\n</html>\n"
    )
