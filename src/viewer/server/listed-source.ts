import { FullText } from './full-text.ts';
import { RunOverviews } from './run-overviews.ts';
import type { ViewerSource } from './viewer-source.ts';

export interface ListedSource {
  readonly source: ViewerSource;
  readonly overviews: RunOverviews;
  readonly fullText: FullText;
}

export function listedSource(source: ViewerSource, cacheFolder?: string): ListedSource {
  return { source, overviews: new RunOverviews(source, cacheFolder), fullText: new FullText(source) };
}
