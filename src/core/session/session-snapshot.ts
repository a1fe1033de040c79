import { CoxswainError } from '../base/error.ts';
import { isJsonObject, type Json } from '../base/json.ts';
import { copyJson } from './copy-json.ts';
import { isDefinitionName } from './definition-name.ts';
import { FAULT_CODES, type SessionFault } from './fault-log.ts';

/** The schema version that is written. It is also the newest version that is read. */
export const SESSION_SNAPSHOT_VERSION = 1;

export interface SliceSnapshot {
  /** `view.total()`, at least the number of items. */
  readonly total: number;
  /** The retained items, oldest first. */
  readonly items: readonly Json[];
}

/** The state of a session as plain JSON. */
export interface SessionSnapshot {
  readonly schema_version: number;
  /** The number of processed events, which is also the index of the next event. */
  readonly event_count: number;
  readonly fault_count: number;
  /** The last faults, at most 100, oldest first. */
  readonly faults: readonly SessionFault[];
  /** Slices by name. */
  readonly slices: Readonly<Record<string, SliceSnapshot>>;
}

/**
 * Decodes a snapshot. Unknown members are ignored. Items are not checked, because only the owner of a slice knows their
 * shape.
 *
 * @throws CoxswainError "snapshot-version" if its schema is newer, or if it is malformed (`details.path`)
 *
 * Cost: one copy of the snapshot.
 */
export function decodeSnapshot(value: unknown): SessionSnapshot {
  const snapshot = objectAt(value, 'snapshot');
  const version = countAt(snapshot['schema_version'], 'schema_version', 1);
  if (version > SESSION_SNAPSHOT_VERSION) {
    throw new CoxswainError(
      'snapshot-version',
      `session snapshot has schema_version ${version}; this version reads up to ${SESSION_SNAPSHOT_VERSION}, so update coxswain`,
      { details: { path: 'schema_version', found: version, newest: SESSION_SNAPSHOT_VERSION } },
    );
  }
  const faults = arrayAt(snapshot['faults'], 'faults').map((fault, index) => decodeFault(fault, `faults[${index}]`));
  const slices = Object.entries(objectAt(snapshot['slices'], 'slices'));
  return {
    schema_version: version,
    event_count: countAt(snapshot['event_count'], 'event_count', 0),
    fault_count: countAt(snapshot['fault_count'], 'fault_count', faults.length),
    faults,
    slices: Object.fromEntries(slices.map(([name, slice]) => [name, decodeSlice(name, slice)])),
  };
}

function decodeSlice(name: string, value: unknown): SliceSnapshot {
  const path = `slices.${name}`;
  if (!isDefinitionName(name)) throw malformedSnapshot(path, 'a slice name');
  const slice = objectAt(value, path);
  const items = arrayAt(slice['items'], `${path}.items`).map((item, index) =>
    copyJson(item, `${path}.items[${index}]`, 'snapshot-version'),
  );
  return { total: countAt(slice['total'], `${path}.total`, items.length), items };
}

function decodeFault(value: unknown, path: string): SessionFault {
  const fault = objectAt(value, path);
  const slice = fault['slice'];
  return Object.freeze({
    code: faultCode(fault['code'], `${path}.code`),
    message: textAt(fault['message'], `${path}.message`),
    eventType: textAt(fault['eventType'], `${path}.eventType`),
    eventIndex: countAt(fault['eventIndex'], `${path}.eventIndex`, 0),
    atMs: finiteAt(fault['atMs'], `${path}.atMs`),
    ...(slice === undefined ? {} : { slice: textAt(slice, `${path}.slice`) }),
  });
}

function faultCode(value: unknown, path: string): SessionFault['code'] {
  const code = FAULT_CODES.find((known) => known === value);
  if (code === undefined) throw malformedSnapshot(path, 'a fault code');
  return code;
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  throw malformedSnapshot(path, 'an object');
}

function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw malformedSnapshot(path, 'an array');
}

function textAt(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw malformedSnapshot(path, 'a string');
}

function finiteAt(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw malformedSnapshot(path, 'a number');
}

function countAt(value: unknown, path: string, minimum: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value;
  throw malformedSnapshot(path, `a whole number from ${minimum}`);
}

function malformedSnapshot(path: string, expected: string): CoxswainError {
  return new CoxswainError('snapshot-version', `not a session snapshot: ${path} is not ${expected}`, {
    details: { path, expected },
  });
}
