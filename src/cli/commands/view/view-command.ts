import { pathToFileURL } from 'node:url';

import { cacheRoot } from '../../../base/state-places.ts';
import { present } from '../../../base/present.ts';
import { CoxswainError } from '../../../base/error.ts';
import { openBrowser } from '../../../viewer/server/open-browser.ts';
import { writeRedirectFile, type RedirectFile } from '../../../viewer/server/redirect-file.ts';
import { ONCE_MS } from '../../../viewer/server/sessions.ts';
import { startViewer } from '../../../viewer/server/start-viewer.ts';
import { requireStore } from '../../runs/open-store.ts';
import { projectStore } from '../../runs/project-store.ts';
import { printable } from '../../terminal/printable.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** The options of `coxswain view`, as the command line gives them. */
export interface ViewOptions {
  readonly port?: string;
  /** False with `--no-open`. */
  readonly open?: boolean;
  readonly report?: readonly string[];
  readonly config?: readonly string[];
  readonly labels?: string;
  readonly run?: string;
  readonly call?: string;
}

/**
 * `coxswain view`: serves a page about runs on this machine alone, and opens it, until Ctrl-C or SIGTERM.
 *
 * @param paths  stores, files, folders, globs; none: the store of this project
 * @returns the exit code
 * @throws CoxswainError `invalid-argument`, and as `startViewer`
 */
export async function viewCommand(paths: readonly string[], options: ViewOptions, terminal: Terminal): Promise<number> {
  if (paths.includes('-')) throw invalid('standard input cannot be viewed: save it to a file and give its path');
  const port = portOf(options.port);
  const place = placeOf(options);
  const viewer = await startViewer({
    paths: paths.length > 0 ? paths : [await existingStore()],
    cacheFolder: cacheRoot({ env: process.env }),
    projectFolder: projectStore().projectFolder,
    ...present({ port, labels: options.labels, reports: options.report, configs: options.config }),
  });
  let redirect: RedirectFile | undefined;
  try {
    const stopped = interrupted(terminal);
    await terminal.write(
      `${place(viewer.url)}\nThe address is for you alone: whoever has it sees the runs. Ctrl-C ends it.\n`,
    );
    if (options.open !== false) redirect = await writeRedirectFile(place(viewer.urlOnce()));
    if (redirect !== undefined && !(await openBrowser(pathToFileURL(redirect.path).href))) {
      terminal.complain('coxswain: no browser could be opened; open the address yourself');
    }
    // The token in it is good for as long.
    setTimeout(() => void redirect?.dispose(), ONCE_MS).unref();
    await stopped;
  } finally {
    await redirect?.dispose();
    await viewer.close();
  }
  return 0;
}

/** Puts what is to be shown into an address of the viewer, as its page reads it. @throws CoxswainError `invalid-argument` */
function placeOf({ call, run }: ViewOptions): (url: string) => string {
  if (call !== undefined && (run === undefined || !/^[1-9]\d{0,8}$/.test(call))) {
    throw invalid(
      run === undefined
        ? '--call is a call of a run: give --run too'
        : `--call ${printable(call)}: give a number from 1`,
    );
  }
  if (run === undefined) return (url) => url;
  const query = new URLSearchParams(call === undefined ? { source: '0', run } : { page: 'moment', run, call });
  return (url) => url.replace('/#', `/?${String(query)}#`);
}

async function interrupted(terminal: Terminal): Promise<void> {
  await new Promise<void>((resolve) => {
    terminal.onInterrupt(resolve);
    process.once('SIGTERM', resolve);
  });
}

async function existingStore(): Promise<string> {
  const { address } = projectStore();
  await requireStore(address);
  return address;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw invalid(`--port ${printable(text)}: give a number from 0 to 65535`);
}

function invalid(message: string): CoxswainError {
  return new CoxswainError('invalid-argument', message);
}
