import { isJsonObject } from '../../core/base/json.ts';
import { safeText } from '../../core/base/printable.ts';
import type { CutText } from '../server/api-shapes.ts';
import { pictureOf, type ShownPicture } from '../server/picture-of.ts';
import { hasColours } from './ansi-text.tsx';

export interface ShownText {
  readonly text: string;
  /** Length of the whole text, if `text` is only a preview. */
  readonly cutFrom?: number;
  /** The same text with terminal colours, if it has any. It is not safe to show as it is. */
  readonly raw?: string;
}

export function withoutBlankLines(text: string): string {
  return text.replaceAll(/\n\s*\n/g, '\n');
}

export function textOf(value: unknown): ShownText {
  if (typeof value === 'string') return shownText(value);
  if (isCut(value)) return { ...shownText(value.$cut.preview), cutFrom: value.$cut.chars };
  if (value === null || value === undefined) return { text: '' };
  const blocks = textBlocks(value);
  if (blocks !== undefined) return shownText(blocks);
  return { text: safeText(JSON.stringify(value, undefined, 2)) };
}

function shownText(text: string): ShownText {
  const shown = { text: safeText(text) };
  return hasColours(text) ? { ...shown, raw: text } : shown;
}

export function isCut(value: unknown): value is CutText {
  const placeholder = isJsonObject(value) ? value['$cut'] : undefined;
  return isJsonObject(placeholder) && typeof placeholder['preview'] === 'string';
}

export function shownResult(value: unknown): { readonly shown: ShownText; readonly pictures: readonly ShownPicture[] } {
  const list: unknown = isJsonObject(value) && Array.isArray(value['content']) ? value['content'] : value;
  const blocks: readonly unknown[] = Array.isArray(list) ? list : [list];
  const picturesByBlock = blocks.map((block) => pictureOf(block));
  const pictures = picturesByBlock.filter((picture) => picture !== undefined);
  if (pictures.length === 0) return { shown: textOf(value), pictures };
  const otherBlocks = blocks.filter((_, at) => picturesByBlock[at] === undefined);
  return { shown: textOf(otherBlocks.length === 0 ? '' : otherBlocks), pictures };
}

/** Joins a list of text parts. Many hosts return results in this form, and the model read these texts. */
function textBlocks(value: unknown): string | undefined {
  const list: unknown = isJsonObject(value) ? value['content'] : value;
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const texts: string[] = [];
  for (const block of list as readonly unknown[]) {
    if (!isJsonObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') return undefined;
    texts.push(block['text']);
  }
  return texts.join('\n');
}

export interface ShownArgs {
  /** One line: the only text argument, or the most important argument. */
  readonly headline: string;
  /** The name of the argument that `headline` shows completely, if there are other arguments. */
  readonly shownName?: string;
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
  if (!isJsonObject(args) || isCut(args)) return shownHeadline(textOf(args).text, true);
  const entries = Object.entries(args);
  const [onlyEntry] = entries;
  if (onlyEntry === undefined) return { headline: '', isWhole: true };
  if (entries.length === 1 && typeof onlyEntry[1] === 'string') return shownHeadline(safeText(onlyEntry[1]), true);
  for (const name of HEADLINES) {
    const value = args[name];
    if (typeof value !== 'string') continue;
    const part = shownHeadline(safeText(value), true);
    return part.isWhole ? { headline: part.headline, isWhole: false, shownName: name } : part;
  }
  const argsText = safeText(JSON.stringify(args));
  return shownHeadline(argsText, argsText.length <= 100);
}

function shownHeadline(text: string, isAll: boolean): ShownArgs {
  // The fence of a code block is not the command.
  const [firstLine = ''] = text.replace(/^\s*```\w*[^\S\n]*\n/, '').split('\n', 1);
  const headlineText = firstLine.slice(0, MAX_HEADLINE);
  return { headline: headlineText, isWhole: isAll && headlineText.length === text.trimEnd().length };
}
