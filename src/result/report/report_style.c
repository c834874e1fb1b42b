/* The look of a report: system fonts, one column, light and dark, phone and paper. Blue and orange
 * (the pair of Okabe and Ito, darkened until text in them has contrast 4.5) are told apart by
 * everyone; signs, dashes and numbers say the same again. Printing is always light. */
#include "result/report/report_page.h"

const char *const REPORT_STYLE[] = {
    ":root{color-scheme:light dark;--paper:#fff;--panel:#f5f7f9;--ink:#17202a;--soft:#535f6c;"
    "--rule:#d5dce3;--pos:#0069a6;--neg:#b04a00;--truth:#17202a;--cell:#000;--strong:#000;"
    "--warn:#fff6e0;--warn-edge:#b07b00;--link:#00578a;--grid:#fff}\n",
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#12161b;--panel:#1b2129;"
    "--ink:#e8edf2;--soft:#a7b3bf;--rule:#343e49;--pos:#69b7ec;--neg:#f4a062;--truth:#fff;"
    "--cell:#fff;--strong:#000;--warn:#2b2413;--warn-edge:#d9a520;--link:#8fcbf5;"
    "--grid:#12161b}}\n",
    "*{box-sizing:border-box}\n",
    "html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}\n",
    "body{margin:0 auto;max-width:66rem;padding:1.5rem 1.25rem 4rem;background:var(--paper);"
    "color:var(--ink);font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',"
    "Arial,sans-serif;overflow-wrap:break-word}\n",
    "h1,h2,h3{line-height:1.25;font-weight:650;letter-spacing:-.01em}\n",
    "h1{font-size:1.9rem;margin:.1rem 0 .6rem}\n",
    "h2{font-size:1.35rem;margin:0 0 .4rem}\n",
    "h3{font-size:1rem;margin:1.4rem 0 .4rem}\n",
    "p{margin:.4rem 0 .9rem;max-width:46rem;text-wrap:pretty}\n",
    "a{color:var(--link)}\n",
    ".kicker{color:var(--soft);font-size:.9rem;margin:0}\n",
    ".lead{font-size:1.18rem;line-height:1.5;margin-bottom:.7rem}\n",
    ".soft{color:var(--soft);font-size:.9rem}\n",
    "section{border-top:1px solid var(--rule);margin-top:2.2rem;padding-top:1.6rem}\n",
    "nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;margin:1.4rem 0 0;"
    "padding:0;font-size:.92rem}\n",
    "nav a{display:inline-block;padding:.15rem 0}\n",
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.6rem;"
    "margin:1.2rem 0 0}\n",
    ".facts div{background:var(--panel);border-radius:.5rem;padding:.6rem .8rem}\n",
    ".facts dt{color:var(--soft);font-size:.82rem}\n",
    ".facts dd{margin:0;font-size:1.12rem;font-weight:600}\n",
    ".warn{background:var(--warn);border-left:.3rem solid var(--warn-edge);"
    "border-radius:.3rem;padding:.7rem 1rem;margin:1.2rem 0 0;max-width:50rem}\n",
    ".warn h2{margin:0 0 .2rem;font-size:1rem}\n",
    ".warn ul{margin:0;padding-left:1.1rem}\n",
    "figure{margin:0}\n",
    "figcaption{font-size:.9rem;margin-bottom:.2rem}\n",
    "figcaption b{font-weight:600}.many .soft,.small .soft{display:block}\n",
    ".wide{overflow-x:auto;max-width:100%}\n",
    ".side{display:flex;flex-wrap:wrap;gap:.5rem 3rem;align-items:flex-start}\n",
    ".side>.wide{flex:none}.side>details{flex:0 1 auto;max-width:100%;margin:0}\n",
    ".maps{display:flex;flex-wrap:wrap;gap:1.4rem 1.6rem;align-items:flex-start}\n",
    ".maps figure{flex:0 1 auto;max-width:100%}\n",
    ".many{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(11rem,46%),1fr));"
    "gap:1.1rem 1.3rem}\n",
    ".few{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));"
    "gap:1.2rem 1.6rem}\n",
    ".curves{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr));"
    "gap:1.3rem 1.6rem}.curves .soft{display:block}\n",
    ".small{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(9.6rem,46%),1fr));"
    "gap:1rem 1.1rem}\n",
    "svg{display:block;width:100%;height:auto;font-family:inherit}\n",
    "svg text{fill:var(--ink);font-size:12px}\n",
    "svg .tick{fill:var(--soft);font-size:11px}\n",
    "svg .axis{stroke:var(--rule);stroke-width:1;fill:none}\n",
    "svg .zero{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}\n",
    ".pos{--c:var(--pos)}.neg{--c:var(--neg)}\n",
    "svg .c{fill:var(--c)}\n",
    "svg .line{fill:none;stroke:var(--c);stroke-width:1.6;stroke-linejoin:round}\n",
    "svg .area{fill:var(--c);opacity:.3}svg .area.beyond{opacity:.12}\n",
    "svg .line.beyond{stroke-dasharray:4 4;stroke-width:1.3;opacity:.75}\n",
    "svg .seen{stroke:var(--c);stroke-width:5;opacity:.55}\n",
    "svg .dots{stroke:var(--pos);stroke-width:3;stroke-linecap:round;opacity:.45;fill:none}\n",
    "svg .truth{stroke:var(--truth);stroke-width:1.6;fill:none}\n",
    "svg .mark{fill:var(--truth)}\n",
    "svg .band{stroke:var(--c);stroke-width:4;opacity:.45}\n",
    ".heat text{font-size:11px;fill:var(--cell);text-anchor:middle;pointer-events:none}\n",
    ".heat text.s{fill:var(--strong)}\n",
    ".heat text.name{fill:var(--ink);font-size:12px}\n",
    ".heat text.row{text-anchor:end}\n",
    ".heat text.col{text-anchor:start}\n",
    ".heat .frame{fill:var(--panel)}\n",
    ".heat .own{fill:var(--rule);opacity:.6}\n",
    ".heat .cells rect{stroke:var(--grid);stroke-width:1}\n",
    ".graph .node rect{fill:var(--panel);stroke:var(--soft);stroke-width:1.2}\n",
    ".graph .node text{text-anchor:middle;font-size:13px;font-weight:600}\n",
    ".graph .edge path{fill:none;stroke:var(--c)}\n",
    ".graph .edge polygon{fill:var(--c)}\n",
    ".graph .edge text{fill:var(--c);font-size:11.5px;text-anchor:middle;paint-order:stroke;"
    "stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}\n",
    ".graph .maybe path{stroke-dasharray:5 4}\n",
    ".key{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;list-style:none;padding:0;"
    "margin:.2rem 0 .8rem;font-size:.88rem;color:var(--soft)}\n",
    ".key svg{display:inline-block;width:2.3rem;height:.9rem;vertical-align:-.1rem;"
    "margin-right:.35rem}\n",
    "table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}\n",
    "caption{text-align:left;color:var(--soft);font-size:.88rem;padding:0 0 .3rem}\n",
    "th,td{padding:.28rem .75rem .28rem 0;text-align:right;border-bottom:1px solid var(--rule);"
    "vertical-align:top}\n",
    "th{font-weight:600}tbody th,tbody td{white-space:nowrap}\n",
    "thead th{color:var(--soft);font-weight:500;vertical-align:bottom}\n",
    "th.t,td.t,td.w{text-align:left}tbody td.w{white-space:normal}\n",
    "tbody td.t{white-space:normal;min-width:11rem}"
    "tbody th.t{white-space:normal;min-width:4.8rem}\n",
    "details{margin:.9rem 0}\n",
    "summary{cursor:pointer;color:var(--link);padding:.15rem 0}\n",
    "pre{background:var(--panel);border-radius:.5rem;padding:.8rem 1rem;overflow-x:auto;"
    "white-space:pre-wrap;overflow-wrap:anywhere;font-size:.9rem}\n",
    ".shots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(28rem,100%),1fr));"
    "gap:.6rem 2.4rem}.shots h3{margin-top:.6rem}\n",
    ".strip{display:grid;grid-template-columns:repeat(5,minmax(0,6.6rem));gap:.45rem;"
    "margin:.2rem 0 .8rem}\n",
    ".strip figcaption{font-size:.8rem;color:var(--soft);text-align:center;margin:.1rem 0 0}\n",
    ".strip img{display:block;width:100%;height:auto;image-rendering:pixelated;"
    "border:1px solid var(--rule)}\n",
    "@media screen and (prefers-color-scheme:dark){.strip .change{"
    "filter:invert(1) hue-rotate(180deg)}}\n",
    "footer{border-top:1px solid var(--rule);margin-top:2.4rem;padding-top:.9rem}\n",
    "@media(max-width:30rem){body{padding:1rem .9rem 3rem}h1{font-size:1.55rem}"
    ".lead{font-size:1.08rem}"
    "th,td{padding-right:.4rem}table{font-size:.8rem}}\n",
    "@media print{:root{color-scheme:light}body{max-width:none;padding:0;font-size:10pt;"
    "-webkit-print-color-adjust:exact;print-color-adjust:exact}nav,summary{display:none}"
    "section{margin-top:1rem;padding-top:.8rem}figure,tr,.facts,.warn{break-inside:avoid}"
    "h2,h3{break-after:avoid}a{color:inherit;text-decoration:none}"
    ".many{grid-template-columns:repeat(5,1fr)}.few{grid-template-columns:repeat(3,1fr)}"
    ".curves{grid-template-columns:repeat(3,1fr)}"
    ".small{grid-template-columns:repeat(6,1fr)}.shots{grid-template-columns:1fr 1fr}"
    ".facts{grid-template-columns:repeat(6,1fr)}.strip{grid-template-columns:repeat(5,1.6cm)}"
    ".lead{font-size:12pt}p{max-width:none}.wide{overflow:visible}"
    ".graph{max-height:9.5cm;min-width:0!important}.side{gap:.4rem 1.5rem}"
    ".side>.wide{flex:0 1 auto}.heat{max-width:5.6cm!important}table{font-size:8.5pt}"
    "th,td{padding-top:.12rem;padding-bottom:.12rem}}\n",
    "@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}\n",
    NULL};
