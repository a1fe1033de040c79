import { cacheRoot } from '../../../core/node/state-places.ts';
import { FactsCache } from '../../runs/facts-cache.ts';
import { reportCommand, type ReportOptions } from '../report/report-command.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export async function failuresCommand(
  paths: readonly string[],
  options: Pick<ReportOptions, 'since' | 'until' | 'project' | 'json'>,
  terminal: Terminal,
): Promise<number> {
  const since = options.since ?? (paths.length === 0 ? '30d' : 'all');
  const cache = new FactsCache(cacheRoot({ env: process.env }));
  try {
    return await reportCommand(
      paths,
      { ...options, since, hasFailuresOnly: true, cache, keepsLessons: options.since === undefined },
      terminal,
    );
  } finally {
    cache.close();
  }
}
