/** What a text of JSON says, or where it breaks off. */
export type JsonReading =
  | { readonly value: unknown }
  | { readonly message: string; readonly line: number; readonly column: number };

/** More brackets inside each other than any configuration has. */
const MAX_DEPTH = 64;

/**
 * Reads JSON that may have comments and commas before a closing bracket, as editors allow it in `.jsonc`.
 *
 * Plain JSON is read by the engine; only what it refuses is read here, so the usual file costs nothing more.
 */
export function readJson(text: string): JsonReading {
  // Editors of one system begin a file with this mark.
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return { value: JSON.parse(plain) as unknown };
  } catch {
    return new JsonReader(plain).read();
  }
}

class JsonFault extends Error {}

const LITERALS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonReading {
    try {
      const value = this.#value(0);
      this.#skip();
      if (this.#at < this.#text.length) this.#fail(`expected the end, found ${this.#here()}`);
      return { value };
    } catch (fault) {
      if (!(fault instanceof JsonFault)) throw fault;
      const before = this.#text.slice(0, this.#at).split('\n');
      return { message: fault.message, line: before.length, column: (before.at(-1) ?? '').length + 1 };
    }
  }

  #value(depth: number): unknown {
    if (depth > MAX_DEPTH) this.#fail(`brackets are nested more than ${MAX_DEPTH} deep`);
    this.#skip();
    const first = this.#text[this.#at];
    if (first === '{') return this.#members(depth);
    if (first === '[') return this.#items(depth);
    if (first === '"') return this.#string();
    const word = this.#match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|[a-z]+/y);
    if (word === undefined) return this.#fail(`expected a value, found ${this.#here()}`);
    if (Object.hasOwn(LITERALS, word)) return LITERALS[word];
    if (/^[a-z]/.test(word)) {
      this.#at -= word.length;
      return this.#fail(`expected a value, found ${word}; texts stand in double quotes`);
    }
    return Number(word);
  }

  #members(depth: number): unknown {
    this.#at += 1;
    const members: (readonly [string, unknown])[] = [];
    for (;;) {
      this.#skip();
      if (this.#takes('}')) return Object.fromEntries(members);
      if (this.#text[this.#at] !== '"') this.#fail(`expected a name in double quotes or }, found ${this.#here()}`);
      const name = this.#string();
      this.#skip();
      if (!this.#takes(':')) this.#fail(`expected a colon after ${JSON.stringify(name)}, found ${this.#here()}`);
      members.push([name, this.#value(depth + 1)]);
      this.#skip();
      if (!this.#takes(',') && this.#text[this.#at] !== '}') this.#fail(`expected a comma or }, found ${this.#here()}`);
    }
  }

  #items(depth: number): unknown {
    this.#at += 1;
    const items: unknown[] = [];
    for (;;) {
      this.#skip();
      if (this.#takes(']')) return items;
      items.push(this.#value(depth + 1));
      this.#skip();
      if (!this.#takes(',') && this.#text[this.#at] !== ']') this.#fail(`expected a comma or ], found ${this.#here()}`);
    }
  }

  #string(): string {
    const start = this.#at;
    // No quantifier inside another over the same characters: linear.
    const quoted = this.#match(/"(?:[^"\\\u0000-\u001f]|\\.)*"/y);
    if (quoted === undefined) this.#fail('a text is not closed, or has a line break or control character in it');
    try {
      return JSON.parse(quoted) as string;
    } catch {
      this.#at = start;
      return this.#fail('a text has an escape that JSON does not know');
    }
  }

  /** Passes over blanks and comments. */
  #skip(): void {
    for (;;) {
      this.#match(/(?:[ \t\r\n]+|\/\/[^\n]*)*/y);
      if (!this.#text.startsWith('/*', this.#at)) return;
      const end = this.#text.indexOf('*/', this.#at + 2);
      if (end < 0) this.#fail('a comment is not closed');
      this.#at = end + 2;
    }
  }

  #takes(sign: string): boolean {
    const is = this.#text[this.#at] === sign;
    if (is) this.#at += 1;
    return is;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #here(): string {
    const character = this.#text.slice(this.#at, this.#at + 2).match(/^./su)?.[0];
    return character === undefined ? 'the end of the file' : JSON.stringify(character);
  }

  #fail(message: string): never {
    throw new JsonFault(message);
  }
}
