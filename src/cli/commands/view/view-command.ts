import { pathToFileURL } from 'node:url';

import { cacheRoot } from '../../../core/node/state-places.ts';
import { present } from '../../../core/base/present.ts';
import { invalidArgument } from '../../../core/base/error.ts';
import { openBrowser } from '../../../viewer/server/open-browser.ts';
import { writeRedirectFile, type RedirectFile } from '../../../viewer/server/redirect-file.ts';
import { ONCE_MS } from '../../../viewer/server/sessions.ts';
import { startViewer } from '../../../viewer/server/start-viewer.ts';
import { sourcesNamed } from '../../runs/open-store.ts';
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

/**
 * Runs `coxswain view`: serves runs as web pages to this machine only and opens them in a browser. Ends at Ctrl-C or SIGTERM.
 *
 * @param paths  stores, files, folders or globs; default: the store of this project
 * @returns the exit code
 * @throws CoxswainError `invalid-argument`, and the errors of `startViewer`
 */
export async function viewCommand(paths: readonly string[], options: ViewOptions, terminal: Terminal): Promise<number> {
  if (paths.includes('-')) throw invalidArgument('standard input cannot be viewed: save it to a file first');
  const port = wholeOption('--port', options.port, [0, 65_535]);
  const pageOf = pageSelector(options);
  const viewer = await startViewer({
    paths: await sourcesNamed(paths, terminal),
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
