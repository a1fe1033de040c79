import type { ImportSource } from '../importer.ts';

/** Returns a source's file name without the extensions of the supported formats. Returns `run` if the rest is empty. */
export function sourceStem(source: ImportSource | string): string {
  const name = typeof source === 'string' ? source : source.name;
  const stem = name.replace(/(?:\.(?:traj|json|jsonl|ndjson|eval))+$/i, '');
  return stem === '' || stem === '-' ? 'run' : stem;
}
