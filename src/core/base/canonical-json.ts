/** Maximum nesting depth. Deeper values are written as `"…"`, so that hostile input cannot overflow the stack. */
const MAX_DEPTH = 64;

/** Sorted keys, no whitespace or `undefined`. Other values than JSON become `null`, cycles and depths below 64 `"…"`. */
export function canonicalJson(value: unknown): string {
  return writeValue(value, []);
}

function writeValue(value: unknown, path: object[]): string {
  switch (typeof value) {
    case 'string':
      return quoteText(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? 'null' : writeObject(value, path);
    default:
      return 'null';
  }
}

function writeObject(value: object, path: object[]): string {
  if (path.length >= MAX_DEPTH || path.includes(value)) return '"…"';
  path.push(value);
  const text = Array.isArray(value) ? writeItems(value, path) : writeMembers(value, path);
  path.pop();
  return text;
}

function writeItems(items: readonly unknown[], path: object[]): string {
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ',';
    text += writeValue(items[index], path);
  }
  return `${text}]`;
}

function writeMembers(value: object, path: object[]): string {
  // JSON consists of the own members of a plain object.
  const source = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (const key of sortedKeys(source)) {
    const member = source[key];
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${quoteText(key)}:${writeValue(member, path)}`;
  }
  return `${text}}`;
}

function sortedKeys(source: object): readonly string[] {
  const keys = Object.keys(source);
  for (let index = 1; index < keys.length; index += 1) {
    // Both indices are below the length.
    if ((keys[index - 1] as string) > (keys[index] as string)) return keys.sort();
  }
  return keys;
}

/** `JSON.stringify` is equally fast for longer strings. */
const SHORT_CHARS = 64;

function quoteText(text: string): string {
  if (text.length > SHORT_CHARS) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Printable ASCII without quote and backslash needs no escapes.
    if (unit < 32 || unit > 126 || unit === 34 || unit === 92) return JSON.stringify(text);
  }
  return `"${text}"`;
}
