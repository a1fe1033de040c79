import { type Json, isJsonObject } from '../../base/json.ts';
import { asJson } from '../parts/source-content.ts';

const PROTOCOL = 'attachment://';
/** Below this depth values are kept as they are; arguments and message parts are flat. */
const MAX_DEPTH = 16;

/** Puts back what a sample's log moved to its `attachments`. */
export type Resolve = (value: unknown) => Json;

/**
 * Makes the resolver of one sample: a text that is `attachment://<hash>` becomes the attached text, anywhere in
 * a value; a hash that the sample does not hold stays as it is, and `onMissing` is told.
 */
export function attachmentResolver(attachments: unknown, onMissing: () => void): Resolve {
  const held = isJsonObject(attachments) ? attachments : {};
  const resolve = (value: unknown, depth: number): Json => {
    if (typeof value === 'string') {
      if (!value.startsWith(PROTOCOL)) return value;
      const key = value.slice(PROTOCOL.length);
      const found = Object.hasOwn(held, key) ? held[key] : undefined;
      if (typeof found === 'string') return found;
      onMissing();
      return value;
    }
    if (depth >= MAX_DEPTH) return asJson(value);
    if (Array.isArray(value)) return value.map((item: unknown) => resolve(item, depth + 1));
    if (!isJsonObject(value)) return asJson(value);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, depth + 1)]));
  };
  return (value) => resolve(value, 0);
}
