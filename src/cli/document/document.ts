const BAR_CELLS = 20;

/** What a style means: the writers choose the colour, the Markdown or the class. */
export type TextStyle = 'strong' | 'dim' | 'good' | 'note' | 'warn' | 'bad' | 'code';

export interface Span {
  readonly text: string;
  readonly style?: TextStyle;
}

/** Text of a document. It may quote a run: the writers remove control characters and escape it. */
export type Text = string | Span | readonly Text[];

/** Several facts on as few lines as possible. A fact that is wider than the line is cut. */
export interface Facts {
  readonly facts: readonly Text[];
  readonly separator?: string;
}

export interface ListItem {
  readonly level?: number;
  /** A sign before the head, such as `✓`; `name` replaces it where signs are not read well. */
  readonly mark?: Span & { readonly name?: string };
  readonly head: Text;
  readonly lines?: readonly (Text | Facts)[];
}

export interface TableBlock {
  readonly type: 'table';
  readonly caption?: string;
  readonly head?: readonly string[];
  readonly rows: readonly (readonly Text[])[];
  /** Left-aligned columns besides the first. Other columns are right-aligned. */
  readonly left?: readonly number[];
}

export type Block =
  | { readonly type: 'heading'; readonly text: Text }
  | ({ readonly type: 'facts' } & Facts)
  | { readonly type: 'list'; readonly items: readonly ListItem[]; readonly isNumbered?: boolean }
  | TableBlock
  /** Lines of characters whose columns matter, such as a strip or a plot. */
  | { readonly type: 'drawing'; readonly lines: readonly Text[] };

export interface Document {
  readonly title?: Text;
  readonly blocks: readonly Block[];
}

export function heading(text: Text): Block {
  return { type: 'heading', text };
}

export function listBlock(items: readonly ListItem[]): Block {
  return { type: 'list', items };
}

export function linesOf(texts: readonly Text[]): Block {
  return { type: 'list', items: texts.map((head) => ({ head })) };
}

/** A heading and its blocks; nothing if the section is empty. */
export function sectionOf(title: Text, ...blocks: readonly Block[]): readonly Block[] {
  return blocks.every(isEmpty) ? [] : [heading(title), ...blocks];
}

export function isEmpty(block: Block): boolean {
  return (block.type === 'list' && block.items.length === 0) || (block.type === 'table' && block.rows.length === 0);
}

export function styled(style: TextStyle, text: string): Span {
  return { text, style };
}

export function barText(share: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)}`;
}

export function spansOf(text: Text): readonly Span[] {
  if (typeof text === 'string') return [{ text }];
  return 'text' in text ? [text] : text.flatMap(spansOf);
}

export function unstyled(text: Text): string {
  return spansOf(text)
    .map((span) => span.text)
    .join('');
}

export function isFacts(line: Text | Facts): line is Facts {
  return typeof line === 'object' && 'facts' in line;
}
