import { escapeHtml, htmlFrame, type Html } from '../base/html-frame.ts';
import { safeText } from '../base/shown-text.ts';

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

/** The beginning and the end of the page: `htmlFrame` with its heading. Light and dark as the reader has it. */
export function exportPage(title: string): readonly [head: Html, tail: Html] {
  const [head, tail] = htmlFrame(escapeText(title), STYLE);
  return [`${head}<h1>${escapeText(title)}</h1>\n`, tail];
}

/** A text from outside as it may stand anywhere in the page, also in an attribute. */
export function escapeText(text: string): Html {
  return escapeHtml(safeText(text));
}
