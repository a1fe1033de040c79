import { createHash } from 'node:crypto';
import { html, type Html, htmlText, styleElement, type HtmlValue } from '../../formats/html/html.ts';
import { present } from '../../core/base/json.ts';
import type { Paint, Style } from '../terminal/terminal.ts';
import { printable } from '../../core/base/printable.ts';
import {
  isEmpty,
  isFacts,
  unstyled,
  spansOf,
  styled,
  type Block,
  type Document,
  type Facts,
  type ListItem,
  type Span,
  type TableBlock,
  type Text,
  type TextStyle,
} from './document.ts';

/** A narrower column is not broken. */
const MIN_WRAP = 20;

const STYLES: Readonly<Record<TextStyle, Style>> = {
  strong: 'bold',
  dim: 'dim',
  good: 'green',
  note: 'cyan',
  warn: 'yellow',
  bad: 'red',
  code: 'dim',
};

export interface TerminalForm {
  readonly paint: Paint;
  /** Number of columns. Facts are filled to it. */
  readonly width: number;
  /** Maximum length of every other line except drawings. Default: no limit. */
  readonly lineWidth?: number;
}

export function terminalText({ blocks, title }: Document, form: TerminalForm): string {
  const written = blocks.filter((block) => !isEmpty(block));
  const parts = title === undefined ? written : [{ type: 'heading', text: title } as const, ...written];
  let text = '';
  for (const [index, block] of parts.entries()) {
    const before = parts[index - 1]?.type;
    if (before !== undefined && before !== 'heading') text += '\n';
    for (const line of blockLines(block, form)) text += `${line}\n`;
  }
  return text;
}

function blockLines(block: Block, form: TerminalForm): readonly string[] {
  const { paint } = form;
  switch (block.type) {
    case 'heading': {
      const text = spansOf(block.text).map((span) => styled(span.style ?? 'strong', span.text));
      return wrapped(text, form.lineWidth).map((line) => painted(line, paint));
    }
    case 'facts':
      return factLines(block, form);
    case 'list':
      return block.items.flatMap((item, index) =>
        itemLines(item, block.isNumbered === true ? `${index + 1}.` : '', form),
      );
    case 'table':
      return tableLines(block, form);
    default:
      return block.lines.map((line) => painted(line, paint));
  }
}

function itemLines(
  { head, level = 0, lines = [], mark }: ListItem,
  number: string,
  form: TerminalForm,
): readonly string[] {
  const { lineWidth = Infinity, paint, width } = form;
  const sign = mark === undefined ? number : mark.text;
  const margin = '  '.repeat(level);
  const indent = margin + ' '.repeat(sign === '' ? 2 : sign.length + 1);
  const room = { paint, width: width - indent.length };
  const first = mark === undefined ? number : painted(mark, paint);
  const restWidth = lineWidth - indent.length;
  const before = `${margin}${first}${first === '' ? '' : ' '}`;
  const [firstLine = '', ...more] = wrapped(head, sign === '' ? lineWidth - margin.length : restWidth);
  return [
    `${before}${painted(firstLine, paint)}`,
    ...more.map((line) => `${indent}${painted(line, paint)}`),
    ...lines
      .flatMap((line) =>
        isFacts(line) ? factLines(line, room) : wrapped(line, restWidth).map((part) => painted(part, paint)),
      )
      .map((line) => `${indent}${line}`),
  ];
}

/** Breaks a text at blanks into lines of at most `width` columns. No word is broken, so that paths can be copied; a command is broken as a shell allows it. */
function wrapped(text: Text, width = Infinity): readonly Text[] {
  if (lengthOf(text) <= width || width < MIN_WRAP) return [text];
  let line: Span[] = [];
  let length = 0;
  const lines: Span[][] = [line];
  const add = (span: Span): void => {
    line.push(span);
    length += span.text.length;
  };
  const breakLine = (style: TextStyle | undefined): void => {
    if (style === 'code') line.push({ text: '\\', style });
    lines.push((line = []));
    length = 0;
    if (style === 'code') add({ text: '  ' });
  };
  for (const { style, text: part } of spansOf(text)) {
    const room = style === 'code' ? width - 1 : width;
    for (const word of printable(part).split(/(?<= )(?! )/)) {
      if (length > 0 && length + word.trimEnd().length > room) breakLine(style);
      add({ text: word, ...present({ style }) });
    }
  }
  for (const spans of lines) {
    const last = spans.pop();
    if (last !== undefined) spans.push({ ...last, text: last.text.trimEnd() });
  }
  return lines;
}

/** Joins facts into lines of at most `width` columns. */
function factLines({ facts, separator = ', ' }: Facts, { paint, width }: TerminalForm): readonly string[] {
  const lines: { text: string; length: number }[] = [];
  for (const fact of facts) {
    const length = lengthOf(fact);
    const last = lines.at(-1);
    if (last !== undefined && last.length + separator.length + length <= width) {
      last.text += `${separator}${painted(fact, paint)}`;
      last.length += separator.length + length;
    } else {
      for (const part of wrapped(fact, width)) lines.push({ text: painted(part, paint), length: lengthOf(part) });
    }
  }
  return lines.map(({ text }) => text);
}

/** The last column of a table is broken if it is text. */
function tableLines(
  { head, left = [], rows }: TableBlock,
  { lineWidth = Infinity, paint }: TerminalForm,
): readonly string[] {
  const cells = head === undefined ? rows : [head, ...rows];
  const columns = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...cells.map((row) => lengthOf(row[at] ?? ''))));
  const isLeft = new Set([0, ...left]);
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const lines: string[] = [];
  for (const [index, row] of cells.entries()) {
    const isHead = head !== undefined && index === 0;
    const last = row.length === columns && isLeft.has(columns - 1) ? row.at(-1) : undefined;
    const [firstPart, ...more] = last === undefined ? [] : wrapped(last, lineWidth - before);
    const line = row.map((cell, at) => {
      const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - lengthOf(cell)));
      const whole = at === row.length - 1 ? (firstPart ?? cell) : cell;
      const shown = isHead ? printable(unstyled(whole)) : painted(whole, paint);
      if (!isLeft.has(at)) return pad + shown;
      return at === row.length - 1 ? shown : shown + pad;
    });
    const text = line.join('  ').trimEnd();
    lines.push(isHead ? paint('dim', text) : text);
    for (const part of more) lines.push(' '.repeat(before) + painted(part, paint));
  }
  return lines;
}

function painted(text: Text, paint: Paint): string {
  return spansOf(text)
    .map((span) => paintText(paint, span.style, span.text))
    .join('');
}

function paintText(paint: Paint, style: TextStyle | undefined, text: string): string {
  const shown = printable(text);
  return style === undefined || shown === '' ? shown : paint(STYLES[style], shown);
}

function lengthOf(text: Text): number {
  return printable(unstyled(text)).length;
}

export function markdownText({ blocks, title }: Document): string {
  const parts = blocks.filter((block) => !isEmpty(block)).map(markdownBlock);
  if (title !== undefined) parts.unshift(`# ${markdownInline(title)}`);
  return `${parts.join('\n\n')}\n`;
}

function markdownBlock(block: Block): string {
  switch (block.type) {
    case 'heading':
      return `## ${markdownInline(block.text)}`;
    case 'facts':
      return markdownFacts(block);
    case 'list':
      return block.items
        .map((item, index) => markdownItem(item, block.isNumbered === true ? `${index + 1}.` : '-'))
        .join('\n');
    case 'table': {
      const { head, rows } = block;
      const columns = Math.max(0, ...rows.map((row) => row.length));
      const names = Array.from({ length: columns }, (_, at) => markdownInline(head?.[at] ?? ''));
      const cells = [names, names.map(() => '---'), ...rows.map((row) => row.map(markdownInline))];
      return cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
    }
    default:
      return ['```', ...block.lines.map((line) => printable(unstyled(line)).replaceAll('`', "'")), '```'].join('\n');
  }
}

function markdownItem({ head, level = 0, lines = [], mark }: ListItem, number: string): string {
  const sign = '  '.repeat(level) + number;
  const first = `${mark === undefined ? '' : `${markdownInline(mark.text)} `}${lines.length === 0 ? markdownInline(head) : `**${markdownInline(head)}**`}`;
  const indent = ' '.repeat(sign.length + 1);
  return [
    `${sign} ${first}`,
    ...lines.map((line) => indent + (isFacts(line) ? markdownFacts(line) : markdownInline(line))),
  ].join('  \n');
}

function markdownFacts({ facts, separator = ', ' }: Facts): string {
  return facts.map(markdownInline).join(separator);
}

function markdownInline(text: Text): string {
  return spansOf(text).map(markdownSpan).join('');
}

function markdownSpan({ style, text }: Span): string {
  const shown = printable(text);
  return style === 'code'
    ? `\`${shown.replaceAll('`', "'")}\``
    : shown.replaceAll(/[\\`*_[\]<>#|~!]/g, String.raw`\$&`);
}

const CLASSES: Readonly<Partial<Record<TextStyle, string>>> = {
  dim: 'dim',
  good: 'good',
  note: 'dim',
  warn: 'bad',
  bad: 'bad',
};

/** Writes a document as a self-contained page. Equal documents give equal bytes. */
export function htmlPage({ blocks, title = '' }: Document): string {
  const sections: { readonly title?: Text; readonly parts: Html[] }[] = [{ parts: [] }];
  for (const block of blocks) {
    if (isEmpty(block)) continue;
    if (block.type === 'heading') sections.push({ title: block.text, parts: [] });
    else sections.at(-1)?.parts.push(htmlBlock(block));
  }
  const body = sections.map((one) => (one.title === undefined ? one.parts : section(unstyled(one.title), one.parts)));
  return pageText(unstyled(title), body);
}

/** The beginning of every page. */
export function pageStart(): string {
  return htmlPage({ blocks: [] }).split("'sha256-")[0] ?? '';
}

function htmlBlock(block: Exclude<Block, { readonly type: 'heading' }>): Html {
  switch (block.type) {
    case 'facts':
      return html`<p>${htmlFacts(block)}</p> `;
    case 'list': {
      const items = block.items.map(htmlItem);
      return block.isNumbered === true
        ? html`<ol>
            ${items}
          </ol> `
        : html`<ul>
            ${items}
          </ul> `;
    }
    case 'table': {
      const { caption = '', head = [], rows } = block;
      return table({ caption, head, rows: rows.map((row) => row.map(htmlInline)) });
    }
    default:
      return html`<pre>${block.lines.map((line) => html`${htmlInline(line)}${'\n'}`)}</pre> `;
  }
}

function htmlItem({ head, lines = [], mark }: ListItem): Html {
  const sign = mark === undefined ? undefined : html`${htmlInline({ ...mark, text: mark.name ?? mark.text })} `;
  const rest = lines.map((line) => html`<br />${isFacts(line) ? htmlFacts(line) : htmlInline(line)}`);
  return html`<li>${sign}${lines.length === 0 ? htmlInline(head) : html`<b>${htmlInline(head)}</b>`}${rest}</li> `;
}

function htmlFacts({ facts, separator = ', ' }: Facts): readonly Html[] {
  return facts.map((fact, index) => html`${index === 0 ? '' : separator}${htmlInline(fact)}`);
}

function htmlInline(text: Text): Html {
  return html`${spansOf(text).map(({ style, text: shown }) => {
    if (style === undefined) return shown;
    if (style === 'code') return html`<code>${shown}</code>`;
    return style === 'strong' ? html`<b>${shown}</b>` : html`<span class="${CLASSES[style] ?? ''}">${shown}</span>`;
  })}`;
}

export const PAGE_STYLE: string = `
:root { color-scheme: light dark; --ink: light-dark(#1d2126, #e3e6ea); --dim: light-dark(#575f68, #9ca6b1); --paper: light-dark(#f7f7f4, #14171b); --line: light-dark(#e2e2db, #2a3037); --bad: light-dark(#b1261b, #ff8f83); --good: light-dark(#1d6b3c, #7dcf99); }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 80rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; } caption { text-align: left; color: var(--dim); }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; } td { font-variant-numeric: tabular-nums; } tbody th { min-width: 11rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; } pre { white-space: pre-wrap; margin: .3rem 0; unicode-bidi: plaintext; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); }
`;

/** The page has no script and loads nothing. Its style is inline, allowed by hash. Equal contents give equal bytes. */
function pageText(title: string, body: HtmlValue): string {
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

function section(title: string, body: HtmlValue): Html {
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

function table({ caption, head, rows }: TableParts): Html {
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
