import { createHash } from 'node:crypto';

import { html, htmlText, styleElement, type Html, type HtmlValue } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';

/** An alias for `html` that the formatter does not recognise. The formatter would otherwise close the open tags of the head. */
const openTags = html;

/**
 * Returns the beginning and the end of a self-contained page. The page has no script and loads nothing from the network. Its style sheet
 * is inline, allowed by hash, and supports light and dark mode. Equal titles give equal bytes.
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

/** Returns a whole page as text: `pageFrame` with the body in between. */
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

export interface TableParts {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly HtmlValue[])[];
}

/** Creates a table. The first cell of each row is a row header. */
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
