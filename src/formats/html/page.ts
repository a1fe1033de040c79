import { createHash } from 'node:crypto';
import { html, htmlText, styleElement, type Html, type HtmlValue } from './html.ts';

export const PAGE_STYLE: string = `
:root { color-scheme: light dark; --ink: #1d2126; --dim: #575f68; --paper: #f7f7f4; --line: #e2e2db; --bad: #b1261b; --good: #1d6b3c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6ea; --dim: #9ca6b1; --paper: #14171b; --line: #2a3037; --bad: #ff8f83; --good: #7dcf99; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 80rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; } tbody th { min-width: 11rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; } pre { white-space: pre-wrap; margin: .3rem 0; unicode-bidi: plaintext; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
`;

/** The page has no script and loads nothing. Its style is inline, allowed by hash. Equal contents give equal bytes. */
export function pageText(title: string, body: HtmlValue): string {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64');
  return htmlText(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta
            http-equiv="Content-Security-Policy"
            content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"
          />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="referrer" content="no-referrer" />
          <title>${title}</title>
          ${styleElement(PAGE_STYLE)}
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            ${body}
          </main>
        </body>
      </html> `,
  );
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
