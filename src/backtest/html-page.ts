import { escapeHtml, htmlFrame, type Html } from '../base/html-frame.ts';
import { unseen } from '../base/shown-text.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --dim: #5b6470; --paper: #fff; --line: #d9dee4; --mark: #1f5fbf; --soft: #1f5fbf2e; --bad: #b3261e; --good: #1b6e3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #9aa4b0; --paper: #16191d; --line: #333a42; --mark: #8ab4f8; --soft: #8ab4f83a; --bad: #ff8a80; --good: #7fd39b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; } summary { cursor: pointer; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
tbody th { overflow-wrap: anywhere; min-width: 11rem; } .figures td { white-space: nowrap; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; } .dim { color: var(--dim); font-weight: 400; } .bad { color: var(--bad); } .good { color: var(--good); }
svg { display: block; } svg text { fill: var(--dim); font: 11px system-ui, sans-serif; } .axis { stroke: var(--line); fill: none; }
.soft { fill: var(--soft); } .mark { fill: var(--mark); } .stroke { stroke: var(--mark); fill: none; } .spread { stroke: var(--mark); stroke-opacity: .35; } .range { stroke: var(--ink); fill: none; }
.name { fill: var(--ink); } .note { border-left: 3px solid var(--mark); padding-left: .8rem; }
`;

/** The page of a report: `htmlFrame` around its heading and its body. Light and dark as the reader has it. */
export function htmlPage(title: string, body: Html): Html {
  const [head, tail] = htmlFrame(htmlText(title), STYLE);
  return `${head}<h1>${htmlText(title)}</h1>\n${body}${tail}`;
}

/** A section with its heading. */
export function htmlSection(title: string, body: Html): Html {
  return `<section>\n<h2>${htmlText(title)}</h2>\n${body}</section>\n`;
}

/** A table; the first cell of a row is its header. @param rows  cells that are HTML */
export function htmlTable(caption: string, head: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return tableOf('<table>', { caption, head, rows });
}

/** The same for figures: none of them is broken across lines, and what is too wide is scrolled. */
export function htmlFigures(caption: string, head: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return tableOf('<table class="figures">', { caption, head, rows });
}

interface TableParts {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Html[])[];
}

function tableOf(tag: Html, { caption, head, rows }: TableParts): Html {
  const names = head.map((name) => `<th scope="col">${htmlText(name)}</th>`).join('');
  const lines = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${first}</th>${rest}</tr>\n`;
  });
  return `<div class="wide">${tag}\n<caption>${htmlText(caption)}</caption>\n<thead><tr>${names}</tr></thead>
<tbody>\n${lines.join('')}</tbody>\n</table></div>\n`;
}

const UNSEEN = unseen('\t\n\r');
const MAX_CHARS = 300;

/** A text from outside as it may stand anywhere in a page, also in an attribute; after 300 characters it is cut. */
export function htmlText(value: string): Html {
  const cut = value.length > MAX_CHARS ? `${value.slice(0, MAX_CHARS - 1)}…` : value;
  return escapeHtml(cut.toWellFormed().replaceAll(UNSEEN, ''));
}
