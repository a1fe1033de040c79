import type { Json } from '../../src/core/base/json.ts';
import { type Fields, BLOCKS, CHOICES, FIGURES, MESSAGES, SHAPES } from '../../src/core/records/shapes.ts';
import { fieldsOf, isKnownKind } from '../../src/core/records/kind-definition.ts';
import { KINDS } from '../../src/core/records/kinds.ts';
import type { TrajectoryPayload } from '../../src/core/records/trajectory-record.ts';

/** A payload of every kind with every field set, and `text` in each field that holds text of others. */
export function everyPayload(text: string): readonly TrajectoryPayload[] {
  const json = { list: [text, { member: text }], text };
  const original = { kind: 'new_kind', ...json };
  const shapes: Readonly<Record<string, Fields>> = { ...FIGURES, ...SHAPES };
  const values: Readonly<Record<string, Json>> = {
    ...Object.fromEntries(['content', 'name', 'id', 'configured', 'picture'].map((word) => [word, text])),
    ...Object.fromEntries(['count', 'amount', 'number', 'deadline', 'deadline_from_0'].map((word) => [word, 1])),
    ...Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])),
    own: 'identical_call:0',
    unchecked_number: 1,
    json,
    object: json,
    result: [{ type: 'text', text }, text, json],
    flag: true,
    true: true,
  };
  const membersOf = (fields: Fields): Readonly<Record<string, Json>> =>
    Object.fromEntries(Object.entries(fields).map(([name, word]) => [name, valueOf(word)]));
  const valueOf = (word: string): Json => {
    const base = word.replace(/\?$/, '').replace(/\|null$/, '');
    if (base === 'message[]') return messages();
    if (base.endsWith('[]')) return [valueOf(base.slice(0, -2))];
    if (base === 'message') return { role: 'assistant', ...membersOf(MESSAGES.assistant) };
    if (base === 'message_content') return blocks();
    return values[base] ?? membersOf(shapes[base] ?? {});
  };
  const messages = (): Json => [
    { role: 'system', content: text },
    ...Object.entries(MESSAGES).map(([role, fields]) => Object.assign({ role }, membersOf(fields))),
  ];
  const blocks = (): Json => Object.entries(BLOCKS).map(([type, fields]) => Object.assign({ type }, membersOf(fields)));
  const payloads = Object.keys(KINDS)
    .filter(isKnownKind)
    .map((kind) => Object.assign({ kind }, membersOf(fieldsOf(kind))));
  return [
    // Every field holds what its word says; `record-schema.test.ts` decodes them all.
    ...(payloads as unknown as readonly TrajectoryPayload[]),
    { kind: 'unrecognised', original, text: JSON.stringify(original).replace('{', '{ ') },
  ];
}
