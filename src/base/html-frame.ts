import { createHash } from 'node:crypto';

/** HTML that was put together here: every text in it is escaped. */
export type Html = string;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it may stand anywhere in a page, also in an attribute. Says nothing of characters that reorder or hide text. */
export function escapeHtml(text: string): Html {
  return text.replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
}

/**
 * The beginning and the end of a page that needs nothing else: no script, no network, its style inside and allowed by its hash.
 * Equal arguments give equal bytes.
 *
 * @param style  the whole style sheet, ours
 */
export function htmlFrame(title: Html, style: string): readonly [head: Html, tail: Html] {
  const hash = createHash('sha256').update(style).digest('base64');
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
`;
  return [head, '</main>\n</body>\n</html>\n'];
}
