/** The style sheet of reports, backtests and exported runs. */
export const PAGE_STYLE: string = `
:root { color-scheme: light dark; --ink: #1a1d21; --dim: #5b6470; --paper: #fff; --line: #d9dee4; --mark: #1f5fbf; --soft: #1f5fbf2e; --bad: #b3261e; --good: #1b6e3a; --pattern: #8a5300; --advice: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #9aa4b0; --paper: #16191d; --line: #333a42; --mark: #8ab4f8; --soft: #8ab4f83a; --bad: #ff8a80; --good: #7fd39b; --pattern: #f2b366; --advice: #8ab4f8; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 80rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: .9rem; font-weight: 600; margin: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; } tbody th { min-width: 11rem; } .figures td { white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--dim); } dd { margin: 0; }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; } pre { white-space: pre-wrap; margin: .3rem 0; unicode-bidi: plaintext; }
article { border-left: 3px solid var(--line); padding: .25rem 0 .25rem .8rem; margin: .4rem 0; }
article.bad { border-color: var(--bad); } article.pattern { border-color: var(--pattern); } article.advice { border-color: var(--advice); }
article.turn { border: 0; border-top: 1px solid var(--line); padding: .2rem 0 0; color: var(--dim); }
article:target { outline: 2px solid var(--advice); } article.bad pre { color: inherit; } a { color: var(--advice); }
time, .dim { color: var(--dim); font-weight: 400; } .bad { color: var(--bad); } .good { color: var(--good); } summary { cursor: pointer; overflow-wrap: anywhere; }
svg { display: block; } svg text { fill: var(--dim); font: 11px system-ui, sans-serif; } .axis { stroke: var(--line); fill: none; }
.soft { fill: var(--soft); } .mark { fill: var(--mark); } .stroke { stroke: var(--mark); fill: none; } .spread { stroke: var(--mark); stroke-opacity: .35; } .range { stroke: var(--ink); fill: none; }
.name { fill: var(--ink); } .note { border-left: 3px solid var(--mark); padding-left: .8rem; }
`;
