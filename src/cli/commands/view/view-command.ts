import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { pathToFileURL } from 'node:url';

import { cacheRoot } from '../../../core/node/state-places.ts';
import { present } from '../../../core/base/present.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { openBrowser } from '../../../viewer/server/open-browser.ts';
import { writeRedirectFile, type RedirectFile } from '../../../viewer/server/redirect-file.ts';
import { ONCE_MS } from '../../../viewer/server/sessions.ts';
import { findSessions } from '../../../formats/find-sessions.ts';
import { storePath } from '../../../stores/store-address.ts';
import { startViewer, type ViewerOptions } from '../../../viewer/server/start-viewer.ts';
import { completeProject } from '../../runs/complete-project.ts';
import { sourcesNamed, storeNamed } from '../../runs/open-store.ts';
import { wholeOption } from '../../terminal/option-values.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface ViewOptions {
  readonly port?: string;
  /** False for `--no-open`. */
  readonly open?: boolean;
  readonly labels?: string;
  readonly run?: string;
  readonly call?: string;
}

/** Maximum number of session files, the most recently changed ones. */
const MAX_SESSIONS = 1_000;

/**
 * Runs `coxswain view`: serves runs as web pages to this machine only and opens them in a browser. Ends at Ctrl-C or SIGTERM.
 *
 * @param paths  stores, files, folders or globs; default: the store of this project, and the sessions of this user's agent programs
 * @returns the exit code
 * @throws CoxswainError `invalid-argument`, and the errors of `startViewer`
 */
export async function viewCommand(paths: readonly string[], options: ViewOptions, terminal: Terminal): Promise<number> {
  if (paths.includes('-')) throw invalidArgument('standard input cannot be viewed: save it to a file first');
  const port = wholeOption('--port', options.port, [0, 65_535]);
  const pageOf = pageSelector(options);
  if (paths.length === 0) await completeProject();
  const viewer = await startViewer({
    ...(paths.length > 0 ? { paths } : await machineSources(terminal)),
    cacheFolder: cacheRoot({ env: process.env }),
    ...present({ port, labels: options.labels }),
  });
  let redirect: RedirectFile | undefined;
  try {
    const interruption = untilInterrupted(terminal);
    await terminal.write(
      `${pageOf(viewer.url)}\nKeep this address private: anyone who has it can see the runs. Ctrl-C ends it.\n`,
    );
    if (options.open !== false) redirect = await writeRedirectFile(pageOf(viewer.urlOnce()));
    if (redirect !== undefined && !(await openBrowser(pathToFileURL(redirect.path).href))) {
      terminal.complain('coxswain: no browser could be opened; open the address yourself');
    }
    // Deletes the redirect when the token in it expires.
    setTimeout(() => void redirect?.dispose(), ONCE_MS).unref();
    await interruption;
  } finally {
    await redirect?.dispose();
    await viewer.close();
  }
  return 0;
}

/** @throws CoxswainError as `sourcesNamed`, if there is neither a store nor a session */
async function machineSources(terminal: Terminal): Promise<Pick<ViewerOptions, 'paths' | 'sessions'>> {
  const hosts = await findSessions({ home: homedir(), env: process.env });
  const sessions = hosts
    .flatMap((host) => host.sessions)
    .toSorted((a, b) => b.modifiedAtMs - a.modifiedAtMs)
    .slice(0, MAX_SESSIONS);
  const path = storePath(storeNamed(undefined, terminal));
  const isMissing = path !== undefined && !existsSync(path);
  return { paths: isMissing && sessions.length > 0 ? [] : await sourcesNamed([], terminal), sessions };
}

/** Returns a function that adds the run and the call to an address of the viewer. @throws CoxswainError `invalid-argument` */
function pageSelector({ call, run }: ViewOptions): (url: string) => string {
  if (call !== undefined && run === undefined) throw invalidArgument('--call needs --run');
  wholeOption('--call', call, [1, 999_999_999]);
  if (run === undefined) return (url) => url;
  const query = new URLSearchParams(call === undefined ? { source: '0', run } : { page: 'moment', run, call });
  return (url) => url.replace('/#', `/?${String(query)}#`);
}

async function untilInterrupted(terminal: Terminal): Promise<void> {
  await new Promise<void>((resolve) => {
    terminal.onInterrupt(resolve);
    process.once('SIGTERM', resolve);
  });
}
