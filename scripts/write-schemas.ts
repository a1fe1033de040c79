import { mkdirSync, writeFileSync } from 'node:fs';

import { configSchema } from './config-schema.ts';
import { recordSchema } from './record-schema.ts';

/** Writes the package's JSON Schemas into `schema/`. */
export function writeSchemas(): void {
  mkdirSync('schema', { recursive: true });
  const schemas = { 'trajectory-record': recordSchema(), 'coxswain.config': configSchema() };
  for (const [name, schema] of Object.entries(schemas))
    writeFileSync(`schema/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
}
