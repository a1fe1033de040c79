import { FullText } from './full-text.ts';
import { RunLooks } from './run-looks.ts';
import type { ViewerSource } from './viewer-source.ts';

/** A source, and the state computed from its runs. */
export interface ListedSource {
  readonly source: ViewerSource;
  readonly looks: RunLooks;
  readonly fullText: FullText;
}

/** @param cacheFolder  passed to `RunLooks` */
export function listedSource(source: ViewerSource, cacheFolder?: string): ListedSource {
  return { source, looks: new RunLooks(source, cacheFolder), fullText: new FullText(source) };
}
