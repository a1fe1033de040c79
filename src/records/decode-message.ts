import { isJsonObject } from '../base/json.ts';
import { toJson } from '../base/to-json.ts';
import {
  amount,
  anyJson,
  brokenField,
  count,
  decodeFields,
  fieldDecode,
  flag,
  listOf,
  literal,
  mendFields,
  objectOf,
  optional,
  pathOf,
  text,
} from './field-decode.ts';
import type { FieldDecode, FieldDecodes } from './field-decode.ts';
import type { StoredContentBlock, StoredMessage, StoredUsage } from './stored-message.ts';

/** Names every field of `T`, so that a field added to a shape cannot be forgotten here. */
type EveryField<T> = { readonly [Field in keyof T]-?: FieldDecode };

type BlockOf<Type> = Extract<StoredContentBlock, { readonly type: Type }>;
type MessageOf<Role> = Extract<StoredMessage, { readonly role: Role }>;

/** Half a picture is none: one that is over the limit is left out. */
const picture: FieldDecode = fieldDecode((value, path, key) => text(value, path, key), {
  mend: (value, budget, key) => {
    const kept = text.mend(value, budget, key);
    return typeof value !== 'string' || kept === value ? kept : undefined;
  },
});

const blocks: { readonly [Type in StoredContentBlock['type']]: EveryField<BlockOf<Type>> } = {
  text: { type: literal('text'), text },
  reasoning: { type: literal('reasoning'), text },
  tool_call: { type: literal('tool_call'), id: text, name: text, args: anyJson },
  image: { type: literal('image'), media_type: text, data_base64: optional(picture), url: optional(text) },
  other: { type: literal('other'), value: anyJson },
};

/** A block of a type that has no name here becomes `other`, which is what `other` is for. */
const contentBlock: FieldDecode = fieldDecode(
  (value, path, key) => {
    const own = pathOf(path, key);
    if (!isJsonObject(value)) throw brokenField(own, 'an object', value);
    const decodes = decodesNamed(blocks, value['type']);
    return decodes === undefined ? { type: 'other', value } : decodeFields(value, decodes, own);
  },
  {
    mend: (value, budget) => {
      if (typeof value === 'string') return { type: 'text', text: budget.text(value) };
      const decodes = isJsonObject(value) ? decodesNamed(blocks, value['type']) : undefined;
      if (!isJsonObject(value) || decodes === undefined) return { type: 'other', value: toJson(value, budget) };
      return mendFields(value, decodes, budget);
    },
  },
);

const blockList = listOf(contentBlock);
const content: FieldDecode = fieldDecode(
  (value, path, key) => (typeof value === 'string' ? value : blockList(value, path, key)),
  {
    mend: (value, budget, key) => {
      if (typeof value === 'string') return budget.text(value);
      // Some hosts have null for the content of an answer that is nothing but calls.
      if (value === undefined || value === null) return '';
      return blockList.mend(Array.isArray(value) ? value : [value], budget, key);
    },
  },
);

const usage: EveryField<StoredUsage> = {
  input_tokens: optional(count),
  output_tokens: optional(count),
  cache_read_tokens: optional(count),
  cache_write_tokens: optional(count),
  cost_usd: optional(amount),
};

const messages: { readonly [Role in StoredMessage['role']]: EveryField<MessageOf<Role>> } = {
  system: { role: literal('system'), content },
  user: { role: literal('user'), content },
  assistant: {
    role: literal('assistant'),
    content,
    stop_reason: optional(text),
    error_message: optional(text),
    model_id: optional(text),
    usage: optional(objectOf(usage)),
  },
  tool_result: {
    role: literal('tool_result'),
    tool_call_id: text,
    tool_name: optional(text),
    content,
    is_error: optional(flag),
  },
};

/** Decodes one `StoredMessage`; fields it does not know are kept. */
export const message: FieldDecode = fieldDecode(
  (value, path, key) => {
    const own = pathOf(path, key);
    if (!isJsonObject(value)) throw brokenField(own, 'a message', value);
    const decodes = decodesNamed(messages, value['role']);
    if (decodes === undefined)
      throw brokenField(pathOf(own, 'role'), 'system, user, assistant or tool_result', value['role']);
    return decodeFields(value, decodes, own);
  },
  {
    mend: (value, budget, key) => {
      const named = isJsonObject(value) ? value : { content: value };
      const decodes = decodesNamed(messages, named['role']);
      if (decodes !== undefined) return mendFields(named, decodes, budget);
      budget.note('wrongTypes', `${key} is a message of no known role`);
      // Not a user's: that would be a new task.
      const role = named['role'] === 'tool' ? 'tool_result' : 'system';
      return mendFields({ ...named, role }, messages[role], budget);
    },
  },
);

function decodesNamed(table: Readonly<Record<string, FieldDecodes>>, name: unknown): FieldDecodes | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;
}
