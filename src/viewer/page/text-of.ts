import { safeText } from '../../base/shown-text.ts';
import type { CutText } from '../server/api-shapes.ts';
import { hasColours } from './ansi-text.tsx';

/** A value of a trajectory as safe text. */
export interface ShownText {
  readonly text: string;
  /** Length of the whole text, if this is a preview. */
  readonly cutFrom?: number;
  /** The same with terminal colours, if it has any. Not safe to show. */
  readonly raw?: string;
}

/** Removes blank lines, where space is scarce. */
export function withoutBlankLines(text: string): string {
  return text.replaceAll(/\n\s*\n/g, '\n');
}

/** A stored value as text: a string as it is, anything else as JSON. */
export function textOf(value: unknown): ShownText {
  if (typeof value === 'string') return safely(value);
  if (isCut(value)) return { ...safely(value.$cut.preview), cutFrom: value.$cut.chars };
  if (value === null || value === undefined) return { text: '' };
  const blocks = textBlocks(value);
  if (blocks !== undefined) return safely(blocks);
  return { text: safeText(JSON.stringify(value, undefined, 2)) };
}

function safely(text: string): ShownText {
  const shown = { text: safeText(text) };
  return hasColours(text) ? { ...shown, raw: text } : shown;
}

/** Returns true for the replacement of a cut value. */
export function isCut(value: unknown): value is CutText {
  if (typeof value !== 'object' || value === null || !('$cut' in value)) return false;
  const cut: unknown = value.$cut;
  return typeof cut === 'object' && cut !== null && 'preview' in cut && typeof cut.preview === 'string';
}

/** A picture in a result. */
export interface ShownPicture {
  readonly mediaType: unknown;
  /** Base64, or a `CutText` if it was cut. */
  readonly data: unknown;
}

/** The text and the pictures of a result. */
export function shownResult(value: unknown): { readonly shown: ShownText; readonly pictures: readonly ShownPicture[] } {
  const list: unknown = isObject(value) && Array.isArray(value['content']) ? value['content'] : value;
  const blocks: readonly unknown[] = Array.isArray(list) ? list : [list];
  const found = blocks.map((block) => pictureOf(block));
  const pictures = found.filter((picture) => picture !== undefined);
  if (pictures.length === 0) return { shown: textOf(value), pictures };
  const rest = blocks.filter((_, at) => found[at] === undefined);
  return { shown: textOf(rest.length === 0 ? '' : rest), pictures };
}

/** The picture formats of stored messages, Anthropic, MCP and OpenAI. */
function pictureOf(block: unknown): ShownPicture | undefined {
  if (!isObject(block)) return undefined;
  const { data, data_base64: stored, image_url: link, media_type: type, mimeType, source } = block;
  if (stored !== undefined && type !== undefined) return { mediaType: type, data: stored };
  if (isObject(source) && source['data'] !== undefined)
    return { mediaType: source['media_type'], data: source['data'] };
  if (block['type'] === 'image' && data !== undefined) return { mediaType: mimeType, data };
  const url = isObject(link) ? link['url'] : link;
  const parts = typeof url === 'string' ? /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) : null;
  return parts === null ? undefined : { mediaType: parts[1], data: parts[2] };
}

/** Many hosts return lists of text parts: their text is what the model read. */
function textBlocks(value: unknown): string | undefined {
  const list: unknown = isObject(value) ? value['content'] : value;
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const texts: string[] = [];
  for (const block of list as readonly unknown[]) {
    if (!isObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') return undefined;
    texts.push(block['text']);
  }
  return texts.join('\n');
}

/** The arguments of a call: the most important one, and the rest. */
export interface ShownArgs {
  /** In one line: the only text, or the most important one. */
  readonly headline: string;
  /** The argument shown completely by `headline`, if there are others. */
  readonly shownName?: string;
  /** True if `headline` shows all arguments. */
  readonly isWhole: boolean;
}

const HEADLINES = [
  'command',
  'cmd',
  'path',
  'file_path',
  'filePath',
  'pattern',
  'query',
  'url',
  'description',
] as const;
const MAX_HEADLINE = 300;

export function headlineOf(args: unknown): ShownArgs {
  if (!isObject(args) || isCut(args)) return headline(textOf(args).text, true);
  const entries = Object.entries(args);
  const [only] = entries;
  if (only === undefined) return { headline: '', isWhole: true };
  if (entries.length === 1 && typeof only[1] === 'string') return headline(safeText(only[1]), true);
  for (const name of HEADLINES) {
    const value = args[name];
    if (typeof value !== 'string') continue;
    const part = headline(safeText(value), true);
    return part.isWhole ? { headline: part.headline, isWhole: false, shownName: name } : part;
  }
  const short = safeText(JSON.stringify(args));
  return headline(short, short.length <= 100);
}

function headline(text: string, isAll: boolean): ShownArgs {
  const [first = ''] = text.split('\n', 1);
  const cut = first.slice(0, MAX_HEADLINE);
  return { headline: cut, isWhole: isAll && cut.length === text.trimEnd().length };
}

/** Returns true for a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
