import { hashText } from '../base/hash.ts';
import { type Fields, BLOCKS, MESSAGES, SHAPES } from './shapes.ts';
import { fieldsOf, isKnownKind } from './kind-definition.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

/** Maximum number of UTF-16 units of a name or an id in a record. Protocols allow 64 to 128 for the name of a tool. */
export const MAX_NAME_CHARS = 1_000;
const HEAD_CHARS = MAX_NAME_CHARS - 40;

/** A very long one keeps its beginning and gets a hash of the whole, so that calls still find their ends. */
export function shortName(name: string): string {
  return name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, HEAD_CHARS).toWellFormed()}… ${hashText(name)}`;
}

/** As a live payload's are when it is repaired. Returns the same object if none is too long. */
export function withShortNames(payload: TrajectoryPayload): TrajectoryPayload {
  if (!isKnownKind(payload.kind)) return payload;
  const short = withShortFields(payload, fieldsOf(payload.kind));
  if (short.kind === 'run_started') {
    const identity = withShortFields(short.identity, SHAPES.identity);
    return identity === short.identity ? short : { ...short, identity };
  }
  if (short.kind !== 'message_appended') return short;
  const message = withShortFields(short.message, MESSAGES[short.message.role]);
  const { content } = message;
  const blocks =
    typeof content === 'string' ? content : content.map((block) => withShortFields(block, BLOCKS[block.type]));
  const isSame = typeof blocks === 'string' || blocks.every((block, at) => block === content[at]);
  if (isSame) return message === short.message ? short : { ...short, message };
  return { ...short, message: { ...message, content: blocks } };
}

const NAME_WORD = /^(?:name|id)(?:\?|\|null)?$/;

function withShortFields<Value extends object>(value: Value, fields: Fields): Value {
  const longKeys: string[] = [];
  for (const key in fields) {
    const text: unknown = Reflect.get(value, key);
    if (typeof text === 'string' && text.length > MAX_NAME_CHARS && NAME_WORD.test(fields[key] ?? ''))
      longKeys.push(key);
  }
  if (longKeys.length === 0) return value;
  const shortFields = longKeys.map((key) => [key, shortName(String(Reflect.get(value, key)))]);
  return Object.assign({ ...value }, Object.fromEntries(shortFields));
}
