import { type Json, jsonOf, type JsonObject } from '../../base/json.ts';

/** A span of any exporter, or a log event of an agent program, which counts as one. Plain JSON. */
export interface TraceSpan {
  /** Of a log event that belongs to no span: the session. */
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: the first of its trace. */
  readonly parentId?: string;
  /** Its parent is in another process, which may export elsewhere. */
  readonly remoteParent?: true;
  readonly name: string;
  /** Unix milliseconds, with fractions. */
  readonly startMs: number;
  /** Absent for a span that has not ended. */
  readonly endMs?: number;
  readonly attributes: JsonObject;
  readonly events: readonly SpanEvent[];
  /** Status of the span; absent where it is not set. */
  readonly status?: 'ok' | 'error';
  readonly statusMessage?: string;
  /** Attributes and events that the sender left out, by its own count. */
  readonly dropped?: number;
  /** Its attributes belong to the span of this id, which comes by itself. */
  readonly details?: true;
  /** A log event: a session has no span that ends it. */
  readonly isEvent?: true;
}

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  readonly attributes: JsonObject;
}

/** The attribute of that name, whether it stands flat (`a.b`), nested (`{a: {b}}`), or in parts (`a.b.0.c`), as one value. Undefined without any. */
export function attributeOf(attributes: JsonObject, name: string): Json | undefined {
  const own = attributes[name];
  if (own !== undefined && own !== null) return own;
  return partsUnder(attributes, `${name}.`) ?? nestedAt(attributes, name);
}

/** Below an attribute that is an object, or JSON text of one. */
function nestedAt(attributes: JsonObject, name: string): Json | undefined {
  const steps = name.split('.');
  for (let length = steps.length - 1; length > 0; length -= 1) {
    const head = attributes[steps.slice(0, length).join('.')];
    let value = typeof head === 'string' && head.startsWith('{') ? jsonOf(head) : head;
    for (const step of steps.slice(length)) {
      // An index of a list is a member of it too.
      value = typeof value === 'object' && value !== null ? (value as JsonObject)[step] : undefined;
    }
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

type Tree = Map<string, Tree | Json>;

/** A list whose items stand in parts: `a.0.b`, `a.1.b`. */
function partsUnder(attributes: JsonObject, prefix: string): Json | undefined {
  const root: Tree = new Map();
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(prefix)) continue;
    const steps = key.slice(prefix.length).split('.').slice(0, MAX_STEPS);
    if (!INDEX.test(steps[0] ?? '')) continue;
    let tree = root;
    for (const step of steps.slice(0, -1)) {
      const below = tree.get(step);
      const next: Tree = below instanceof Map ? below : new Map();
      if (next !== below) tree.set(step, next);
      tree = next;
    }
    const last = steps.at(-1) ?? '';
    if (!(tree.get(last) instanceof Map)) tree.set(last, value);
  }
  return root.size === 0 ? undefined : jsonOfTree(root);
}

const MAX_STEPS = 16;
const INDEX = /^\d{1,6}$/;

/** A tree whose steps are numbers is a list. */
function jsonOfTree(tree: Tree): Json {
  const entries = [...tree].map(([key, value]) => [key, value instanceof Map ? jsonOfTree(value) : value] as const);
  if (!entries.every(([key]) => INDEX.test(key))) return Object.fromEntries(entries);
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}
