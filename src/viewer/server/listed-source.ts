import type { RunSummary } from '../../core/facts/run-summary.ts';
import { FullText } from './full-text.ts';
import { RunOverviews } from './run-overviews.ts';
import type { ViewerSource } from './viewer-source.ts';

export interface ListedSource {
  readonly source: ViewerSource;
  readonly overviews: RunOverviews;
  readonly fullText: FullText;
  /** True for a run whose process is known to be gone. */
  readonly isKilled: (run: RunSummary) => boolean;
}

export function listedSource(
  source: ViewerSource,
  { cacheFolder, isKilled = () => false }: { cacheFolder?: string; isKilled?: ListedSource['isKilled'] } = {},
): ListedSource {
  return { source, overviews: new RunOverviews(source, cacheFolder), fullText: new FullText(source), isKilled };
}
