import { findNodeAtLocation, parseTree, type ParseError } from 'jsonc-parser';

import { CoxswainError } from '../../core/base/error.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { readJson } from '../config/decode-config.ts';
import { markOf } from './init-hooks.ts';

const BOM = '\uFEFF';
const PARSE = { allowTrailingComma: true, allowEmptyContent: true };

/**
 * Each event gets one group after the existing ones; comments, order and formatting stay.
 *
 * @param wantedHooks  by event, with one hook each; Copilot CLI has no groups, so its values are hooks
 * @throws CoxswainError `invalid-argument`, with line and column, if the text is no JSON object or `hooks` has
 * another shape
 */
export function addHooks(text: string, wantedHooks: ReadonlyMap<string, object>): string {
  const [mark, body] = text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text];
  const wantedMark = (event: string): string | undefined => marksOf(wantedHooks.get(event))[0];
  let editedBody = dropHooks(body, (found, event) => found !== wantedMark(event));
  for (const [event, group] of wantedHooks) {
    const groups = groupsOf(editedBody, event);
    if (groups.some(({ marks }) => marks.includes(wantedMark(event)))) continue;
    const isNew = groupsAt(editedBody, event) === undefined;
    editedBody = isNew
      ? insertJson(editedBody, ['hooks', event], [group])
      : insertJson(editedBody, ['hooks', event, groups.length], group);
  }
  return mark + editedBody;
}

/** Claude Code silently ignores a file with a comment or a trailing comma. Returns the first one's place, and why. */
export function ignoredSettings(text: string): string | undefined {
  const errors: ParseError[] = [];
  const body = text.startsWith(BOM) ? text.slice(1) : text;
  parseTree(body, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: true });
  const [error] = errors;
  if (error === undefined || 'message' in readJson(body, PARSE)) return undefined;
  const lines = body.slice(0, error.offset).split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  return `a comment or a trailing comma at ${place}: Claude Code ignores the whole file; remove it first`;
}

/** Lists that become empty go too. Throws CoxswainError as `addHooks`. */
export function removeHooks(text: string): string {
  const [mark, body] = text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text];
  return mark + dropHooks(body, () => true);
}

/** Marks by event; see `markOf`. Throws CoxswainError as `addHooks`. */
export function ourHooks(text: string): ReadonlyMap<string, readonly string[]> {
  const body = text.startsWith(BOM) ? text.slice(1) : text;
  const marksByEvent = eventsOf(body).map((event): [string, readonly string[]] => [
    event,
    groupsOf(body, event).flatMap(({ marks }) => marks.flatMap((mark) => mark ?? [])),
  ]);
  return new Map(marksByEvent.filter(([, marks]) => marks.length > 0));
}

/** One hook at a time, because each removal changes the offsets. */
function dropHooks(text: string, isUnwanted: (mark: string, event: string) => boolean): string {
  for (const event of eventsOf(text)) {
    const isRemoved = (mark: string | undefined): boolean => mark !== undefined && isUnwanted(mark, event);
    for (;;) {
      const groups = groupsOf(text, event);
      const groupIndex = groups.findIndex(({ marks }) => marks.some(isRemoved));
      const group = groups[groupIndex];
      if (group === undefined) break;
      const place = group.marks.findIndex(isRemoved);
      const path =
        group.marks.length > 1
          ? ['hooks', event, groupIndex, 'hooks', place]
          : groups.length > 1
            ? ['hooks', event, groupIndex]
            : eventsOf(text).length > 1
              ? ['hooks', event]
              : ['hooks'];
      text = removeJson(text, path);
    }
  }
  return text;
}

interface FoundGroup {
  readonly marks: readonly (string | undefined)[];
}

function eventsOf(text: string): readonly string[] {
  const hooks = valueAt(text, ['hooks']);
  if (hooks === undefined) return [];
  if (!isJsonObject(hooks)) throw invalidSettings('hooks', 'an object of events');
  return Object.keys(hooks);
}

function groupsAt(text: string, event: string): readonly unknown[] | undefined {
  const groups = valueAt(text, ['hooks', event]);
  if (groups !== undefined && !Array.isArray(groups)) throw invalidSettings(`hooks.${event}`, 'a list');
  return groups;
}

function groupsOf(text: string, event: string): readonly FoundGroup[] {
  return (groupsAt(text, event) ?? []).map((group: unknown) => ({ marks: marksOf(group) }));
}

function marksOf(group: unknown): readonly (string | undefined)[] {
  const hooks: unknown = isJsonObject(group) ? group['hooks'] : undefined;
  return Array.isArray(hooks) ? hooks.map(markOf) : [markOf(group)].filter((mark) => mark !== undefined);
}

function valueAt(text: string, path: readonly string[]): unknown {
  let value = settingsOf(text);
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

function settingsOf(text: string): unknown {
  const reading = readJson(text, PARSE);
  if ('message' in reading) {
    const { message, line, column } = reading;
    throw new CoxswainError(
      'invalid-argument',
      `not JSON: ${message} at line ${line}, column ${column}; fix it first`,
      { details: { line } },
    );
  }
  const { value = {} } = reading;
  if (!isJsonObject(value)) throw invalidSettings('the file', 'a JSON object');
  return value;
}

function invalidSettings(place: string, shape: string): CoxswainError {
  return new CoxswainError('invalid-argument', `${place} should be ${shape}; fix the settings first`, {
    details: { place },
  });
}

/** No other text changes; the library's own insertion would reformat neighbouring lines. */
function insertJson(text: string, path: readonly (string | number)[], value: unknown): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  // A new file ends with a line break.
  if (text.trim() === '') text = `{}${eol}`;
  const name = path.at(-1);
  const tree = parseTree(text, [], PARSE);
  const container = tree === undefined ? undefined : findNodeAtLocation(tree, path.slice(0, -1));
  if (container === undefined) return insertJson(text, path.slice(0, -1), { [String(name)]: value });
  const step = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const outer = indentAt(text, container.offset);
  const last = container.children?.at(-1);
  const indent = last !== undefined && startsLine(text, last.offset) ? indentAt(text, last.offset) : outer + step;
  const key = container.type === 'object' ? `${JSON.stringify(name)}: ` : '';
  const item = (key + JSON.stringify(value, undefined, step)).replaceAll('\n', eol + indent);
  if (last !== undefined) {
    const end = last.offset + last.length;
    return `${text.slice(0, end)},${eol}${indent}${item}${text.slice(end)}`;
  }
  const start = container.offset + 1;
  const end = container.offset + container.length - 1;
  const innerText = text.slice(start, end).trim() === '' ? '' : text.slice(start, end).trimEnd();
  return `${text.slice(0, start)}${innerText}${eol}${indent}${item}${eol}${outer}${text.slice(end)}`;
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function startsLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';
}

function removeJson(text: string, path: readonly (string | number)[]): string {
  const tree = parseTree(text, [], PARSE);
  const value = tree === undefined ? undefined : findNodeAtLocation(tree, [...path]);
  const node = value?.parent?.type === 'property' ? value.parent : value;
  const siblings = node?.parent?.children;
  if (node?.parent === undefined || siblings === undefined) return text;
  const nodeIndex = siblings.indexOf(node);
  const [before, after] = [siblings[nodeIndex - 1], siblings[nodeIndex + 1]];
  const end = node.offset + node.length;
  if (before !== undefined) return text.slice(0, before.offset + before.length) + text.slice(end);
  if (after !== undefined) return text.slice(0, node.offset) + text.slice(after.offset);
  return text.slice(0, node.parent.offset + 1) + text.slice(node.parent.offset + node.parent.length - 1);
}
