import type { Fields, KindDefinition, KnownKind } from './field-types.ts';
import { DERIVED, KINDS } from './kinds.ts';
import type { TrajectoryPayload } from './trajectory-record.ts';

const DEFINITIONS: Readonly<Record<KnownKind, KindDefinition>> = KINDS;

/** Whether this version has a name for a kind. */
export function isKnownKind(kind: string): kind is KnownKind {
  return Object.hasOwn(DEFINITIONS, kind);
}

/** Every field that payloads of a kind have besides `kind`. */
export function fieldsOf(kind: KnownKind): Fields {
  const { role, fields } = DEFINITIONS[kind];
  return role === 'derived' ? { ...DERIVED, ...fields } : fields;
}

/** The part that a payload has in a replay; see `kinds.ts`. One of an unknown kind counts as input. */
export function roleOf({ kind }: TrajectoryPayload): KindDefinition['role'] {
  return kind === 'unrecognised' ? 'input' : DEFINITIONS[kind].role;
}

/** How a payload is shown; one of an unknown kind as a detail. */
export function rowOf({ kind }: TrajectoryPayload): KindDefinition['row'] {
  return isKnownKind(kind) ? DEFINITIONS[kind].row : 'detail';
}
