import { createHash } from 'node:crypto';
import { html, htmlText, styleElement, type Html, type HtmlValue } from './html.ts';

export const PAGE_STYLE: string = `
:root { color-scheme: light dark; --ink: #1d2126; --dim: #575f68; --paper: #f7f7f4; --line: #e2e2db; --accent: #0b6570; --accent-soft: #d9ecee; --bad: #b1261b; --bad-soft: #fbe9e6; --good: #1d6b3c; --stuck-mark: #d9912b; --stuck-soft: #fbf0dc; --advice: #5a44b5; --advice-soft: #eeeafb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6ea; --dim: #9ca6b1; --paper: #14171b; --line: #2a3037; --accent: #62c3cc; --accent-soft: #173a3e; --bad: #ff8f83; --bad-soft: #3a1e1c; --good: #7dcf99; --stuck-mark: #d9973a; --stuck-soft: #33270f; --advice: #b5a6ff; --advice-soft: #29234a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 80rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: .9rem; font-weight: 600; margin: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; } tbody th { min-width: 11rem; } .figures td { white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--dim); } dd { margin: 0; }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; } pre { white-space: pre-wrap; margin: .3rem 0; unicode-bidi: plaintext; }
article { border-left: 3px solid var(--line); padding: .25rem 0 .25rem .8rem; margin: .4rem 0; }
article.bad { border-color: var(--bad); background: var(--bad-soft); } article.pattern { border-color: var(--stuck-mark); background: var(--stuck-soft); }
article.advice { border-color: var(--advice); background: var(--advice-soft); } article.unsaid { border-left-style: dashed; background: none; }
article.turn { border: 0; border-top: 1px solid var(--line); padding: .2rem 0 0; color: var(--dim); }
article:target { outline: 2px solid var(--accent); } article.bad pre { color: inherit; } a { color: var(--accent); }
time, .dim { color: var(--dim); font-weight: 400; } .bad { color: var(--bad); } .good { color: var(--good); } summary { cursor: pointer; overflow-wrap: anywhere; }
svg { display: block; } svg text { fill: var(--dim); font: 11px system-ui, sans-serif; } .axis { stroke: var(--line); fill: none; }
.soft { fill: var(--accent-soft); } .mark { fill: var(--accent); } .stroke { stroke: var(--accent); fill: none; } .spread { stroke: var(--accent); stroke-opacity: .35; } .range { stroke: var(--ink); fill: none; }
.name { fill: var(--ink); } .note { border-left: 3px solid var(--accent); padding-left: .8rem; }
`;

/** An alias for `html` that the formatter does not recognise. The formatter would otherwise close the open tags of the head. */
const openTags = html;

/** The page has no script and loads nothing. Its style is inline, allowed by hash. Equal titles give equal bytes. */
export function pageFrame(title: string): readonly [head: Html, tail: Html] {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64');
  const head = openTags`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
${styleElement(PAGE_STYLE)}
</head>
<body>
<main>
<h1>${title}</h1>
`;
  return [head, openTags`</main>\n</body>\n</html>\n`];
}

export function pageText(title: string, body: HtmlValue): string {
  const [head, tail] = pageFrame(title);
  return htmlText(html`${head}${body}${tail}`);
}

export function section(title: string, body: HtmlValue): Html {
  return html`<section>
    <h2>${title}</h2>
    ${body}
  </section> `;
}

interface TableParts {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly HtmlValue[])[];
}

export function table({ caption, head, rows }: TableParts): Html {
  const names = head.map((name) => html`<th scope="col">${name}</th>`);
  const lines = rows.map(([first, ...cells]) => {
    const rest = cells.map((cell) => html`<td>${cell}</td>`);
    return html`<tr>
      <th scope="row">${first}</th>
      ${rest}
    </tr> `;
  });
  return html`<div class="wide">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${names}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`;
}
