import { systemClock } from '../../core/base/clock.ts';
import { isJsonObject, jsonOf } from '../../core/base/json.ts';
import { lookAt, readGuarded, replaceGuarded } from '../../core/node/guarded-file.ts';
import { makeStateFolder, stateFile, type StateOwner } from '../../core/node/state-places.ts';
import { knownLessons, type KnownLesson, type LessonFacts } from '../../core/steering/guidance/lesson-guidance.ts';
import { withoutSessionSecrets } from './session-secrets.ts';
import type { ResolvedConfig } from '../config/resolve-config.ts';

/** The age after which lessons are not told: the sessions since then may have retired them. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;
const MAX_BYTES = 16_384;

export function tellsLessons({ steering }: Pick<ResolvedConfig, 'steering'>): boolean {
  return steering.guidance?.some(({ provider }) => provider.name === 'lesson_guidance') === true;
}

/** The next session then knows what this one showed. `program`: undefined if the CLI is not installed. */
export function refreshLessons(
  projectFolder: string,
  { env, program }: { readonly program: readonly string[] | undefined; readonly env: NodeJS.ProcessEnv },
): void {
  const [command, ...args] = program ?? [];
  if (command === undefined) return;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(command, [...args, 'failures', '--project', projectFolder], {
    cwd: projectFolder,
    env: withoutSessionSecrets(env),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  // The next session is told what the sessions before this one showed.
  child.on('error', () => undefined);
  child.unref();
}

/** Keeps what an agent may be told of the lessons of a project, for `readLessons`. Never throws. */
export function keepLessons(owner: StateOwner, lessons: readonly LessonFacts[], nowMs: number): void {
  try {
    const known = knownLessons(lessons);
    const path = stateFile('lessons', owner);
    if (known.length === 0 && lookAt(path) === undefined) return;
    makeStateFolder(owner);
    replaceGuarded(path, JSON.stringify({ atMs: nowMs, lessons: known }));
  } catch {
    // A full disk or a folder that cannot be made: agents are told nothing.
  }
}

/** Returns the lessons that `keepLessons` kept in the last week; none if they cannot be read. */
export function readLessons(owner: StateOwner, nowMs: number = systemClock.nowMs()): readonly KnownLesson[] {
  try {
    const kept = jsonOf(readGuarded(stateFile('lessons', owner), { maxBytes: MAX_BYTES })?.toString('utf8') ?? '');
    if (!isJsonObject(kept) || typeof kept['atMs'] !== 'number' || nowMs - kept['atMs'] > MAX_AGE_MS) return [];
    // `keepLessons` wrote the same shape; the provider checks each text again.
    return Array.isArray(kept['lessons']) ? kept['lessons'] : [];
  } catch {
    return [];
  }
}
