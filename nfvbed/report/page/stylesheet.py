"""The page's style: one readable column, tables that scroll on their own, light and dark by the reader's choice."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--fg:#1c1e21;--soft:#565b63;--line:#d9dce0;--accent:#00598b;
--good:#1a6e34;--bad:#a6261b;--warn:#7a4f00;--warnbg:#fff4d9;--sim:#b3261e;--hatch:#ffffffb0}
@media (prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1d2024;--fg:#e8eaed;--soft:#a9b0b8;--line:#3a3f46;
--accent:#7cc0ee;--good:#7fd39a;--bad:#ff9d91;--warn:#f2c55c;--warnbg:#33290f;--sim:#b3261e;--hatch:#1d2024b0}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,"DejaVu Sans",sans-serif}
main,header.top,footer{max-width:86rem;margin:0 auto;padding:0 1.25rem}
header.top{padding-top:1.5rem}
h1,.headline,.machine{overflow-wrap:anywhere}
h1{font-size:1.3rem;font-weight:650;margin:0;line-height:1.3}
.machine{margin:.15rem 0 0;font-size:.95rem}
h2{font-size:1.35rem;margin:2.6rem 0 .6rem;line-height:1.25}
h3{font-size:1.05rem;margin:1.4rem 0 .3rem}
a{color:var(--accent)}
.skip{position:absolute;left:-100rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.4rem}
.meta{color:var(--soft);font-size:.9rem;margin:.2rem 0 0}.meta.host{margin:0 0 .9rem}
.headline{font-size:1.65rem;line-height:1.25;font-weight:650;margin:.9rem 0 .9rem;max-width:60rem;letter-spacing:-.01em}
.simulated{background:var(--sim);color:#fff;font-weight:700;padding:.7rem 1rem;border-radius:.4rem;margin:1rem 0;
letter-spacing:.03em;text-align:center;font-size:1.15rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(21rem,100%),1fr));gap:1rem;padding:0;margin:0;list-style:none}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1.1rem}
.card .where{color:var(--soft);font-size:.9rem}
.card .where strong{color:var(--fg)}
.rates{margin:.35rem 0 .45rem;font-size:.95rem}
.rates th,.rates td{border:0;padding:.2rem 0;vertical-align:middle}
.rates th{padding-right:.7rem;width:1%}.rates .rate{padding-left:.7rem;font-weight:650;width:1%}
.rates .rate small{display:inline;font-weight:400}
.bar{display:block;height:.85rem;min-width:2px;border-radius:.15rem}
.striped{background-image:repeating-linear-gradient(90deg,transparent 0 5px,var(--hatch) 5px 10px)}
.unseen{position:absolute;width:1px;height:1px;padding:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.card p{margin:.25rem 0 0;font-size:.92rem}
.confidence{color:var(--soft);font-size:.92rem;margin:1rem 0 0;max-width:60rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:1.3rem 0 0;list-style:none;font-size:.92rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.5rem;background:var(--card)}
.scroll+.scroll{margin-top:1rem}.notes+.scroll{margin-top:1rem}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.6rem .8rem;color:var(--soft);font-size:.86rem;caption-side:top}
th,td{padding:.4rem .4rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th,thead th.n{font-weight:600;color:var(--soft);white-space:normal;border-top:0;vertical-align:bottom}
td.n,th.n{text-align:right;white-space:nowrap}
tbody th{font-weight:600;white-space:nowrap}
td.whole{white-space:nowrap}
td small,th small{display:block;min-width:4.5rem;color:var(--soft);font-weight:400;font-size:.82rem}
td.verdict>span{white-space:nowrap}
td small.words{white-space:normal;min-width:6.5rem}
#comparison{font-size:.85rem}
.survey tr.row th,.survey tr.row td{padding:.15rem .5rem}.survey th small{display:inline}
td.limits{min-width:14em;width:100%}
.count{color:var(--soft);white-space:nowrap}.limits .doubt{white-space:nowrap}
sup{line-height:0;font-size:.75em;margin-left:.1em}sup a{text-decoration:none}
.notes{list-style:none;margin:.6rem 0 0;padding:0;color:var(--soft);font-size:.86rem}
.notes li:target{color:var(--fg)}
tr.point td,tr.point th{background:var(--bg);color:var(--soft);font-weight:600}
.higher{color:var(--good);font-weight:600}.lower{color:var(--bad);font-weight:600}.same{font-weight:600}
.undecided,.not-comparable{color:var(--warn);font-weight:600}
.doubt{color:var(--warn)}
figure{margin:1.2rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;
overflow-x:auto}
figure h3{margin:0 0 .5rem}
.chart,.chart.vega-embed{display:block;width:100%}
figure svg{max-width:100%;height:auto;display:block}
figcaption{color:var(--soft);font-size:.9rem;margin-top:.5rem;max-width:70rem}
figcaption small{display:block;margin-top:.2rem}
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
    const hatch = style.getPropertyValue("--hatch").trim();
    const copy = JSON.parse(JSON.stringify(spec).replaceAll("#ffffffb0", hatch));
    delete copy.title;  // stands above the figure, as text of the page
    const words = {labelColor: fg, titleColor: soft};
    const config = copy.config;
    config.axis = {...config.axis, ...words, gridColor: line, domainColor: soft, tickColor: soft};
    config.header = {...config.header, ...words};
    config.legend = {...config.legend, ...words};
    config.title = {...config.title, color: fg};  // of the panels
    config.text = {color: fg};
    config.rule = {color: fg};
    return copy;
  };
  const WIDEST = 1100, NARROW = 760, SMALLEST = 150;
  const fitted = (spec, width) => {
    const {margin, columns} = spec.usermeta;
    const beside = width < NARROW ? 1 : columns;
    const inner = Math.max(SMALLEST, Math.floor(Math.min(width, WIDEST) / beside) - margin);
    for (const panel of spec.concat || [spec.spec || spec]) panel.width = inner;
    if (spec.columns) spec.columns = beside;
    return spec;
  };
  const options = {renderer: "svg", actions: false, logLevel: 1};  // 1: errors only
  const draw = () => Promise.all(Object.entries(specs).map(([name, spec]) => {
    const place = document.getElementById("figure-" + name);
    return vegaEmbed(place, fitted(themed(spec), place.clientWidth), options);
  }));
  // The figure's box carries the description; its thousand marks would only be noise to a screen reader.
  const done = () => {
    document.querySelectorAll(".chart svg").forEach((svg) => svg.setAttribute("aria-hidden", "true"));
    document.documentElement.dataset.figures = "drawn";
  };
  draw().then(done);
  dark.addEventListener("change", () => draw().then(done));
  let last = window.innerWidth, timer;
  window.addEventListener("resize", () => {
    if (window.innerWidth === last) return;
    last = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => draw().then(done), 200);
  });
})();
"""
