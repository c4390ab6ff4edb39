"""The page's style: one readable column, tables that scroll on their own, light and dark by the reader's choice."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--fg:#1c1e21;--soft:#565b63;--line:#d9dce0;--accent:#00598b;
--good:#1a6e34;--bad:#a6261b;--warn:#7a4f00;--warnbg:#fff4d9;--sim:#b3261e}
@media (prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1d2024;--fg:#e8eaed;--soft:#a9b0b8;--line:#3a3f46;
--accent:#7cc0ee;--good:#7fd39a;--bad:#ff9d91;--warn:#f2c55c;--warnbg:#33290f;--sim:#b3261e}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,"DejaVu Sans",sans-serif}
main,header.top,footer{max-width:80rem;margin:0 auto;padding:0 1.25rem}
header.top{padding-top:1.5rem}
h1{font-size:1.05rem;font-weight:600;margin:0;color:var(--soft)}
h2{font-size:1.35rem;margin:2.6rem 0 .6rem;line-height:1.25}
h3{font-size:1.05rem;margin:1.4rem 0 .3rem}
a{color:var(--accent)}
.skip{position:absolute;left:-100rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.4rem}
.meta{color:var(--soft);font-size:.9rem;margin:.2rem 0 0}
.headline{font-size:1.75rem;line-height:1.25;font-weight:650;margin:.7rem 0 1rem;max-width:60rem;letter-spacing:-.01em}
.simulated{background:var(--sim);color:#fff;font-weight:700;padding:.7rem 1rem;border-radius:.4rem;margin:1rem 0;
letter-spacing:.03em;text-align:center;font-size:1.15rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1rem;padding:0;margin:0;list-style:none}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1.1rem}
.card .where{color:var(--soft);font-size:.9rem}
.card .rate{font-size:1.6rem;font-weight:650;font-variant-numeric:tabular-nums}
.card .who{font-weight:600}
.card p{margin:.25rem 0 0;font-size:.92rem}
.confidence{color:var(--soft);font-size:.92rem;margin:1rem 0 0;max-width:60rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:1.3rem 0 0;list-style:none;font-size:.92rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.6rem .8rem;color:var(--soft);font-size:.86rem;caption-side:top}
th,td{padding:.45rem .7rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th,thead th.n{font-weight:600;color:var(--soft);white-space:normal;border-top:0;vertical-align:bottom}
td.n,th.n{text-align:right;white-space:nowrap}
tbody th{font-weight:600;white-space:nowrap}
td small,th small{display:block;min-width:4.5rem;color:var(--soft);font-weight:400;font-size:.82rem}
td.verdict{min-width:12.5rem}
tr.point td,tr.point th{background:var(--bg);color:var(--soft);font-weight:600}
.higher{color:var(--good);font-weight:600}.lower{color:var(--bad);font-weight:600}.same{font-weight:600}
.undecided,.not-comparable{color:var(--warn);font-weight:600}
.doubt{color:var(--warn)}
figure{margin:1.2rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;
overflow-x:auto}
figure svg{width:100%;max-width:56rem;height:auto;display:block}
figcaption{color:var(--soft);font-size:.86rem;margin-top:.5rem}
.notice{background:var(--warnbg);border-left:4px solid var(--warn);
padding:.6rem .9rem;border-radius:.3rem;margin:.7rem 0}
.notice p{margin:.15rem 0}
dl.words{display:grid;grid-template-columns:minmax(9rem,max-content) 1fr;gap:.35rem 1.2rem;margin:.6rem 0}
dl.words dt{font-weight:600}dl.words dd{margin:0;color:var(--fg)}
code,.hash{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.86em;overflow-wrap:anywhere}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--accent)}
footer{color:var(--soft);font-size:.86rem;padding-top:2rem;padding-bottom:3rem}
@media (max-width:40rem){.headline{font-size:1.35rem}
dl.words{grid-template-columns:1fr}dl.words dd{margin-bottom:.4rem}}
@media print{body{background:#fff}figure,.card{break-inside:avoid}nav{display:none}}
"""

SCRIPT: Final = """
(() => {
  const specs = JSON.parse(document.getElementById("figures-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const themed = (spec) => {
    const style = getComputedStyle(document.documentElement);
    const fg = style.getPropertyValue("--fg").trim(), soft = style.getPropertyValue("--soft").trim();
    const line = style.getPropertyValue("--line").trim();
    const copy = structuredClone(spec);
    const words = {labelColor: fg, titleColor: soft};
    const config = copy.config;
    config.axis = {...config.axis, ...words, gridColor: line, domainColor: soft, tickColor: soft};
    config.header = {...config.header, ...words};
    config.legend = {...config.legend, ...words};
    config.title = {color: fg, subtitleColor: soft};
    config.text = {color: fg};
    config.rule = {color: fg};
    return copy;
  };
  const options = {renderer: "svg", actions: false, logLevel: 1};  // 1: errors only
  const draw = () => Promise.all(Object.entries(specs).map(([name, spec]) =>
    vegaEmbed(document.getElementById("figure-" + name), themed(spec), options)));
  // The figure's box carries the description; its thousand marks would only be noise to a screen reader.
  const done = () => {
    document.querySelectorAll(".chart svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
    document.documentElement.dataset.figures = "drawn";
  };
  draw().then(done);
  dark.addEventListener("change", () => draw().then(done));
})();
"""
