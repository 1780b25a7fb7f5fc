/** The style sheet of the report. Every colour is said once, for both schemes; each text colour reads with a ratio of at least 4.5. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f8, #0b0e15);
  --panel: light-dark(#ffffff, #131824);
  --line: light-dark(#dde1ea, #262e40);
  --ink: light-dark(#161b26, #e8ecf5);
  --ink-soft: light-dark(#465066, #aab4c8);
  --ink-quiet: light-dark(#5c667b, #8f9bb3);
  --accent: light-dark(#3b5bdb, #8ea6ff);
  --good: light-dark(#157347, #5fd19a);
  --good-soft: light-dark(#e3f5ec, #10301f);
  --warn: light-dark(#7a4c00, #f2bd57);
  --warn-soft: light-dark(#fdf3dc, #33270d);
  --bad: light-dark(#b31f2f, #ff8a91);
  --bad-soft: light-dark(#fdebed, #3a1820);
  --band: light-dark(rgb(21 115 71 / 10%), rgb(95 209 154 / 14%));
  --band-strong: light-dark(rgb(21 115 71 / 28%), rgb(95 209 154 / 34%));
  --hue-0: light-dark(#2f55d4, #8aa4ff);
  --hue-1: light-dark(#a8480b, #ffa868);
  --hue-2: light-dark(#0a7568, #4fd6c2);
  --hue-3: light-dark(#a3278f, #f08fe0);
  --hue-4: light-dark(#7a5d00, #e6c84c);
  --hue-5: light-dark(#6b3fc4, #b89bff);
  --hue-6: light-dark(#2f7516, #93d46f);
  --part-0: light-dark(#9aa3b5, #5b6579);
  --part-1: light-dark(#2f55d4, #8aa4ff);
  --part-2: light-dark(#86b6f0, #3c64a8);
  --part-3: light-dark(#6b3fc4, #b89bff);
  --part-4: light-dark(#c3c9d6, #3d4659);
  --part-5: light-dark(#e0a458, #b87a2c);
  --part-6: light-dark(#0a7568, #4fd6c2);
  --part-7: light-dark(#8ed0c4, #2b7f74);
  --part-8: light-dark(#a3278f, #f08fe0);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif; }
main, header, footer { max-width: 58rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--panel); padding: .5rem 1rem; }
h1 { font-size: 2rem; line-height: 1.15; margin: 0 0 .4rem; letter-spacing: -.02em; text-wrap: balance; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 3rem 0 1rem; letter-spacing: -.01em; }
h3 { font-size: 1.05rem; margin: 0 0 .3rem; }
p { margin: 0 0 .9rem; max-width: 46rem; }
.lead { color: var(--ink-soft); }
.mark { border: 2px solid var(--warn); background: var(--warn-soft); color: var(--warn); border-radius: 10px; padding: .8rem 1.1rem; margin: 1rem 0; font-weight: 600; }
.mark strong { display: block; font-size: 1.15rem; text-transform: uppercase; letter-spacing: .06em; }
.mark ul { margin: .3rem 0 0; padding-left: 1.2rem; font-weight: 500; }
.mark.bad { border-color: var(--bad); background: var(--bad-soft); color: var(--bad); }
.panel, .short { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem 1.25rem; margin: 0 0 1.1rem; }
.short { border-left: 5px solid var(--accent); }
.short p:last-child, .panel > p:last-child { margin-bottom: 0; }
.checks { list-style: none; margin: 0; padding: 0; display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); }
.check { border: 1px solid var(--line); border-left: 5px solid var(--good); background: var(--panel); border-radius: 10px; padding: .7rem .95rem; font-size: .92rem; }
.check b { display: flex; justify-content: space-between; gap: .5rem; margin-bottom: .2rem; }
.check .result { color: var(--good); white-space: nowrap; }
.check.failed { border-color: var(--bad); background: var(--bad-soft); }
.check.failed .result { color: var(--bad); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; padding: 0; margin: 1rem 0 0; font-size: .95rem; }
.picture { overflow-x: auto; }
.chart { display: block; width: 100%; min-width: 34rem; height: auto; overflow: visible; color: var(--ink-soft); font-family: inherit; font-size: 12px; background: none; }
.chart text { white-space: pre; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: .2rem 0 .6rem; font-size: .88rem; color: var(--ink-soft); }
.legend i { display: inline-block; width: .85rem; height: .85rem; border-radius: 3px; margin-right: .4rem; vertical-align: -.1rem; }
.key { margin-right: .4rem; vertical-align: .1rem; }
summary { cursor: pointer; color: var(--accent); font-size: .92rem; width: fit-content; }
.numbers figure { margin: .6rem 0 0; }
.scroll { overflow-x: auto; }
.checks + .numbers { margin-top: .9rem; }
.folded > summary { margin-bottom: 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0 0 .35rem; white-space: nowrap; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--ink-soft); font-weight: 600; }
tbody th { font-weight: 600; white-space: nowrap; }
figcaption { max-width: 46rem; font-size: .85rem; color: var(--ink-soft); margin-top: .45rem; }
footer { color: var(--ink-soft); font-size: .9rem; padding-top: 1.5rem; padding-bottom: 3rem; }
@media print { body { background: none; } .panel, .check { break-inside: avoid; } nav { display: none; } }
`;
