import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Lesson } from '../../core/facts/lessons.ts';
import type { RunSummary } from '../../core/facts/run-summary.ts';
import type { LabelsFile } from './labels-file.ts';
import type { ListedSource } from './listed-source.ts';
import type { RunList } from './run-list.ts';
import { viewerFault } from './viewer-fault.ts';
import type { ViewerSource } from './viewer-source.ts';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

export interface ViewerState {
  readonly sources: readonly ViewerSource[];
  readonly list: RunList;
  readonly labels: LabelsFile;
  readonly failing?: FailingReader | undefined;
}

/** Returns what keeps failing, as `coxswain failures` does. */
export type FailingReader = () => Promise<readonly Lesson[]>;

/** Timeout for the list. If the list takes longer, a single run is looked up in the store. */
const LOOK_MS = 1_000;

/** Looks up a run that is not listed. Throws CoxswainError with the reason `not-found`, or `still-reading` while files may have it. */
export async function runOf(
  { list }: ViewerState,
  sourceId: string,
  runId: string,
): Promise<{ readonly listed: ListedSource; readonly run: RunSummary }> {
  const listed = list.sourceOf(sourceId);
  await listed.source.refreshWithin(LOOK_MS);
  const { runs } = listed.source;
  const known = runs.get(runId);
  // This throws if the store is gone, even for a listed run.
  const reader = await listed.source.reader();
  const run = known ?? (await reader.findRun(runId));
  if (run !== undefined) return { listed, run };
  if (listed.source.isReading) {
    const { indexing, name } = listed.source.row();
    const progress = indexing === undefined ? '' : ` (${indexing.done} of ${indexing.files})`;
    const fix = 'The page opens when it has been read.';
    throw viewerFault('still-reading', `The files of ${name} are still being read${progress}`, fix);
  }
  throw viewerFault('not-found', `there is no run ${runId.slice(0, 200)} (any more)`, 'Go back to the list of runs.');
}

export interface ViewerEnv {
  readonly Bindings: HttpBindings;
}

export type ApiContext = Context<ViewerEnv>;

export const ONCE_MS = 60_000;

/**
 * Controls access to the viewer. The browser exchanges the token in the printed address for a session cookie. Token and cookie are 256
 * random bits that are valid until the process ends. They are compared in constant time.
 */
export class Sessions {
  readonly token: string = createSecret();
  readonly #session = createSecret();
  readonly #nowMs: () => number;
  readonly #oneTimeTokens = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Creates a token that is valid once, within a minute. It is used in the file that opens the browser. */
  issueOnce(): string {
    const token = createSecret();
    this.#oneTimeTokens.set(digest(token).toString('hex'), this.#nowMs() + ONCE_MS);
    return token;
  }

  openSession(token: string): string | undefined {
    if (isEqual(token, this.token)) return this.#session;
    // The lookup uses a digest, so its duration reveals nothing about the token.
    const key = digest(token).toString('hex');
    const untilMs = this.#oneTimeTokens.get(key);
    this.#oneTimeTokens.delete(key);
    return untilMs !== undefined && this.#nowMs() <= untilMs ? this.#session : undefined;
  }

  isOpen(session: string | undefined): boolean {
    return session !== undefined && isEqual(session, this.#session);
  }
}

function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares two strings in a time that depends only on the length of `candidate`. */
function isEqual(candidate: string, expected: string): boolean {
  return timingSafeEqual(digest(candidate), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
