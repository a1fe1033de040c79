import { mkdirSync, writeFileSync } from 'node:fs';

import { recordSchema } from './record-schema.ts';

/** Writes the schemas that ship in the package into `schema/`. */
export function writeSchemas(): void {
  mkdirSync('schema', { recursive: true });
  writeFileSync('schema/trajectory-record.schema.json', `${JSON.stringify(recordSchema(), null, 2)}\n`);
}
