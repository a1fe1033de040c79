import { type Json, jsonOf, type JsonObject } from '../../base/json.ts';

/** A span of any exporter, or an agent program's log event, which counts as a span. Plain JSON. */
export interface TraceSpan {
  /** The session, for a log event outside of spans. */
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first span of its trace. */
  readonly parentId?: string;
  /** The parent is in another process, which may export elsewhere. */
  readonly remoteParent?: true;
  readonly name: string;
  /** Unix milliseconds, with fractions. */
  readonly startMs: number;
  /** Absent for a span that has not ended. */
  readonly endMs?: number;
  readonly attributes: JsonObject;
  readonly events: readonly SpanEvent[];
  /** Absent if not set. */
  readonly status?: 'ok' | 'error';
  readonly statusMessage?: string;
  /** Attributes and events dropped by the sender, by its own count. */
  readonly dropped?: number;
  /** The attributes belong to the span with this id, which arrives separately. */
  readonly details?: true;
  /** A log event: no span ends its session. */
  readonly isEvent?: true;
}

/** An event within a span. */
export interface SpanEvent {
  readonly name: string;
  readonly attributes: JsonObject;
}

/** The value of an attribute in flat (`a.b`), nested (`{a: {b}}`), or split form (`a.b.0.c`). Undefined if absent. */
export function attributeOf(attributes: JsonObject, name: string): Json | undefined {
  const own = attributes[name];
  if (own !== undefined && own !== null) return own;
  return partsUnder(attributes, `${name}.`) ?? nestedAt(attributes, name);
}

/** Looks inside an attribute that is an object, or JSON text of one. */
function nestedAt(attributes: JsonObject, name: string): Json | undefined {
  const steps = name.split('.');
  for (let length = steps.length - 1; length > 0; length -= 1) {
    const head = attributes[steps.slice(0, length).join('.')];
    let value = typeof head === 'string' && head.startsWith('{') ? jsonOf(head) : head;
    for (const step of steps.slice(length)) {
      // A list index also counts as a member.
      value = typeof value === 'object' && value !== null ? (value as JsonObject)[step] : undefined;
    }
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

type Tree = Map<string, Tree | Json>;

/** A list split into items: `a.0.b`, `a.1.b`. */
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

/** A tree with numeric keys is a list. */
function jsonOfTree(tree: Tree): Json {
  const entries = [...tree].map(([key, value]) => [key, value instanceof Map ? jsonOfTree(value) : value] as const);
  if (!entries.every(([key]) => INDEX.test(key))) return Object.fromEntries(entries);
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}
