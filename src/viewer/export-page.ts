import { createHash } from 'node:crypto';

/** HTML that was put together here: every text in it is escaped. */
export type Html = string;

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --dim: #5b6470; --paper: #fff; --line: #d9dee4; --bad: #b3261e; --pattern: #8a5300; --advice: #1f5fbf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --dim: #9aa4b0; --paper: #16191d; --line: #333a42; --bad: #ff8a80; --pattern: #f2b366; --advice: #8ab4f8; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: .9rem; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; unicode-bidi: plaintext; }
article { border-left: 3px solid var(--line); padding: .25rem 0 .25rem .8rem; margin: .4rem 0; }
article.bad { border-color: var(--bad); } article.pattern { border-color: var(--pattern); } article.advice { border-color: var(--advice); }
article.turn { border: 0; border-top: 1px solid var(--line); padding: .2rem 0 0; color: var(--dim); }
article:target { outline: 2px solid var(--advice); } time, .dim { color: var(--dim); font-weight: 400; } .bad { color: var(--bad); }
article.bad pre { color: inherit; } summary { cursor: pointer; overflow-wrap: anywhere; } a { color: var(--advice); }
`;

/**
 * The beginning and the end of a page that needs nothing else: no script, no network, its style allowed by its hash. Light and dark
 * as the reader has it. Equal titles give equal bytes.
 */
export function exportPage(title: string): readonly [Html, Html] {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeText(title)}</h1>
`;
  return [head, '</main>\n</body>\n</html>\n'];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Terminal sequences that are whole; of a torn one the escape character itself is shown by its number. */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-Z\\^-~]/g;

/** What reorders or hides text, or is no character at all; not line feeds and tabs. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * A text from outside as it may stand anywhere in a page, also in an attribute. Terminal sequences go, and what reorders or hides text
 * is shown by its number, such as `⟨U+202E⟩`.
 */
export function escapeText(text: string): Html {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(SEQUENCES, '')
    .toWellFormed()
    .replaceAll(UNSEEN, (mark) => `⟨U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
    .replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? '');
}
