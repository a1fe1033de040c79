import { createHash } from 'node:crypto';

import { html, htmlText, styleElement, type Html, type HtmlValue } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';

/** `html` under a name that the formatter ignores: it would close the open tags of the head. */
const openTags = html;

/**
 * The beginning and the end of a self-contained page: no script, no network, its style inline and allowed by hash, light and dark. Equal
 * titles give equal bytes.
 */
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

/** A whole page as text: `pageFrame` around its body. */
export function pageText(title: string, body: HtmlValue): string {
  const [head, tail] = pageFrame(title);
  return htmlText(html`${head}${body}${tail}`);
}

/** A section with its heading. */
export function section(title: string, body: HtmlValue): Html {
  return html`<section>
    <h2>${title}</h2>
    ${body}
  </section> `;
}

export interface TableParts {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly HtmlValue[])[];
  /** Keeps each cell on one line; a wide table scrolls. */
  readonly figures?: boolean;
}

/** A table; the first cell of a row is its header. */
export function table({ caption, figures, head, rows }: TableParts): Html {
  const names = head.map((name) => html`<th scope="col">${name}</th>`);
  const lines = rows.map(([first, ...cells]) => {
    const rest = cells.map((cell) => html`<td>${cell}</td>`);
    return html`<tr>
      <th scope="row">${first}</th>
      ${rest}
    </tr> `;
  });
  const name = figures === true ? 'figures' : 'texts';
  return html`<div class="wide">
    <table class="${name}">
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

/** Text of secondary weight. */
export function dim(value: HtmlValue): Html {
  return html`<span class="dim">${value}</span>`;
}
