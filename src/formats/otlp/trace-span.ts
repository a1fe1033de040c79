import { hashText } from '../../core/base/hash.ts';
import { type Json, jsonOf, type JsonObject } from '../../core/base/json.ts';

/** First characters of the id of every run that was read from OpenTelemetry. A run of another source does not get such an id. */
export const OTEL_RUN_PREFIX = 'otel-';

const HEX_ID = /^[0-9a-f]{1,64}$/;

/** A hexadecimal id stays, any other text becomes `x` and a hash, which only ids of exporters can share. */
export function hexId(id: string): string {
  return HEX_ID.test(id) ? id : `x${hashOf(id)}`;
}

/** Returns the trace id of the log events of one session. No span can have it. */
export function sessionTraceId(program: string, sessionId: string): string {
  return `s${hashOf(`${program} ${sessionId}`)}`;
}

function hashOf(text: string): string {
  return hashText(text) + hashText(text, 1);
}

/** A span of any exporter, or a log event of an agent program, which is treated as a span. Plain JSON. */
export interface TraceSpan {
  /** Id of the trace from `hexId`. For a log event outside of spans it is that of its session (`sessionTraceId`). */
  readonly traceId: string;
  readonly spanId: string;
  /** Absent for the first span of its trace. */
  readonly parentId?: string;
  /** True if the parent is in another process, which may export to another server. */
  readonly remoteParent?: true;
  readonly name: string;
  /** Unix milliseconds, with fractions. */
  readonly startMs: number;
  /** Absent for a span that has not ended. */
  readonly endMs?: number;
  readonly attributes: JsonObject;
  readonly events: readonly { readonly name: string; readonly attributes: JsonObject }[];
  readonly status?: 'ok' | 'error';
  readonly statusMessage?: string;
  readonly dropped?: number;
  /** True if the attributes belong to the span with this id, which arrives separately. */
  readonly details?: true;
  /** True for a log event. No span ends the session of log events. */
  readonly isEvent?: true;
}

/** Returns true if a span ends its trace: it has ended, and it has no parent or a parent in another process. */
export function endsTrace({ parentId, remoteParent, endMs, details, isEvent }: TraceSpan): boolean {
  const isSpan = details !== true && isEvent !== true;
  return isSpan && endMs !== undefined && (parentId === undefined || remoteParent === true);
}

/** Returns the value of an attribute in flat (`a.b`), nested (`{a: {b}}`), or split form (`a.b.0.c`). Undefined if absent. */
export function attributeOf(attributes: JsonObject, name: string): Json | undefined {
  const attributeValue = attributes[name];
  if (attributeValue !== undefined && attributeValue !== null) return attributeValue;
  return partsUnder(attributes, `${name}.`) ?? nestedAt(attributes, name);
}

function nestedAt(attributes: JsonObject, name: string): Json | undefined {
  const steps = name.split('.');
  for (let length = steps.length - 1; length > 0; length -= 1) {
    const head = attributes[steps.slice(0, length).join('.')];
    let value = typeof head === 'string' && head.startsWith('{') ? jsonOf(head) : head;
    for (const step of steps.slice(length)) {
      // A list index is also accepted as a field name.
      value = typeof value === 'object' && value !== null ? (value as JsonObject)[step] : undefined;
    }
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

type Tree = Map<string, Tree | Json>;

/** Rebuilds a list that was split into items: `a.0.b`, `a.1.b`. */
function partsUnder(attributes: JsonObject, prefix: string): Json | undefined {
  const root: Tree = new Map();
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(prefix)) continue;
    const steps = key.slice(prefix.length).split('.').slice(0, MAX_STEPS);
    if (!INDEX.test(steps[0] ?? '')) continue;
    let tree = root;
    for (const step of steps.slice(0, -1)) {
      const childTree = tree.get(step);
      const next: Tree = childTree instanceof Map ? childTree : new Map();
      if (next !== childTree) tree.set(step, next);
      tree = next;
    }
    const last = steps.at(-1) ?? '';
    if (!(tree.get(last) instanceof Map)) tree.set(last, value);
  }
  return root.size === 0 ? undefined : jsonOfTree(root);
}

const MAX_STEPS = 16;
const INDEX = /^\d{1,6}$/;

function jsonOfTree(tree: Tree): Json {
  const entries = [...tree].map(([key, value]) => [key, value instanceof Map ? jsonOfTree(value) : value] as const);
  if (!entries.every(([key]) => INDEX.test(key))) return Object.fromEntries(entries);
  return entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}
