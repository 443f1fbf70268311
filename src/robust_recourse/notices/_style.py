"""How the pages look, on the screen and on paper."""

STYLE = """
:root { color-scheme: light; font-size: 17px; }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; color: #1c2430; background: #eef1f5; margin: 0; padding: 2rem 1rem; }
main, footer { max-width: 50rem; margin: 0 auto; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
.head { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .5rem; }
.part { font-size: 1.1rem; line-height: 1.35; margin: 2rem 0 .4rem; }
h1, h2, h3, p, li, caption { overflow-wrap: anywhere; }
p, ul { margin: .6rem 0; }
ul { padding-left: 1.25rem; }
li { margin: .25rem 0; }
a { color: #0b57a4; }
a:focus-visible, .scroll:focus-visible { outline: 2px solid #0b57a4; outline-offset: 2px; }
section, article { background: #fff; border: 1px solid #d3dae3; border-radius: 10px; padding: 2rem 2.25rem;
                   margin: 1.5rem 0 0; }
.when, .note, footer { color: #4d586a; }
.when { margin-top: 0; }
.from { color: #4d586a; margin: 0 0 .5rem; }
.verdict { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .75rem; margin: 1.25rem 0;
           padding: 0; list-style: none; }
.verdict li { border: 1px solid #b9c3d0; border-left-width: 6px; border-radius: 6px; padding: .5rem .9rem; margin: 0; }
.verdict .yes { border-left-color: #1d7a46; }
.verdict .no { border-left-color: #a33b2a; }
.verdict span { display: block; color: #4d586a; font-size: .95rem; }
.verdict b { font-size: 1.2rem; }
.say { font-size: 1.1rem; }
.scroll { overflow-x: auto; margin: 1rem 0 0; position: relative; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; color: #4d586a; font-size: .95rem; padding-bottom: .35rem; }
th, td { padding: .5rem 0 .5rem 1.25rem; text-align: left; vertical-align: baseline; border-bottom: 1px solid #d9dfe7; }
.long { overflow-wrap: anywhere; }
tbody th bdi:not(.long) { white-space: nowrap; }
.before-after caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
                        white-space: nowrap; }
.before-after { table-layout: fixed; min-width: 26rem; }
.before-after :is(th, td) { overflow-wrap: anywhere; }
.before-after bdi { white-space: normal !important; }
th:first-child, td:first-child { padding-left: 0; }
thead th { color: #4d586a; font-weight: 600; vertical-align: bottom; border-bottom: 2px solid #1c2430; }
tbody th { font-weight: 600; }
.number { text-align: right; }
td.number { white-space: nowrap; }
dl { columns: 2; column-gap: 2.5rem; margin: .75rem 0 0; font-size: .95rem; }
dl div { display: flex; justify-content: space-between; gap: 1rem; break-inside: avoid; padding: .22rem 0;
         border-bottom: 1px solid #e4e8ee; }
dt { color: #4d586a; overflow-wrap: anywhere; }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; list-style: none;
         margin: 1.25rem 0 0; padding: 0; }
.tiles li { border: 1px solid #d3dae3; border-radius: 6px; padding: .6rem .9rem; margin: 0; }
.tiles b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; margin: 1rem 0; }
svg text { font: 12px system-ui, sans-serif; fill: #1c2430; }
footer { font-size: .95rem; padding: 1.25rem 0 0; }
@media (max-width: 40rem) {
  :root { font-size: 16px; }
  body { padding: 1rem .5rem; }
  section, article { padding: 1.25rem 1rem; border-radius: 6px; }
  dl { columns: 1; }
  th, td { padding-left: .75rem; }
}
@page { margin: 16mm; }
@media print {
  :root { font-size: 9.5pt; }
  body { background: #fff; padding: 0; line-height: 1.4; }
  main, footer { max-width: none; }
  section, article { border: 0; border-radius: 0; padding: 0 1px 0 0; margin: 0; }
  section { margin-top: 1.5rem; }
  article { break-before: page; }
  article:first-child, header + article { break-before: auto; }
  header + article { margin-top: 1.25rem; }
  .part { margin-top: 1rem; }
  h1, h2, h3, caption { break-after: avoid; }
  tr, li, svg, .details { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  th, td { padding-top: .2rem; padding-bottom: .2rem; }
  .scroll { margin-top: .5rem; }
  li { margin: .1rem 0; }
  .verdict li { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
"""
