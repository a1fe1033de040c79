import type { EmittedKind, Fields, KindDefinition, KnownKind } from './shapes.ts';
import { DERIVED, KINDS } from './kinds.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

const DEFINITIONS: Readonly<Record<KnownKind, KindDefinition>> = KINDS;

export function isKnownKind(kind: string): kind is KnownKind {
  return Object.hasOwn(DEFINITIONS, kind);
}

export function isEmitted(kind: string): kind is EmittedKind {
  return isKnownKind(kind) && DEFINITIONS[kind].emitted === true;
}

export function fieldsOf(kind: KnownKind): Fields {
  const { role, fields } = DEFINITIONS[kind];
  return role === 'derived' ? { ...DERIVED, ...fields } : fields;
}

/** Returns the role of a payload in a replay; see `kinds.ts`. An unknown kind is an input. */
export function roleOf({ kind }: TrajectoryPayload): KindDefinition['role'] {
  return kind === 'unrecognised' ? 'input' : DEFINITIONS[kind].role;
}

export function rowOf({ kind }: TrajectoryPayload): KindDefinition['row'] {
  return isKnownKind(kind) ? DEFINITIONS[kind].row : 'detail';
}
