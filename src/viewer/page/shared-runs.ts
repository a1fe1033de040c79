import type { JsonObject } from '../../core/base/json.ts';
import type {
  FindAnswer,
  LabelsAnswer,
  RecordsAnswer,
  RunAnswer,
  RunRowsAnswer,
  SourcesAnswer,
} from '../server/api-shapes.ts';
import { findWords, hasWords } from '../server/run-query.ts';
import { readSharedRun, SHARED_RUN, type SharedRun } from '../server/shared-data.ts';

/** The runs of a page that was shared as a file and has no server; the last one is the shared run. */
const runs =
  typeof document === 'undefined'
    ? []
    : await Promise.all(
        [...document.getElementsByClassName(SHARED_RUN)].map(({ textContent }) => readSharedRun(textContent)),
      );

/** The shared run; undefined for a page of a server. */
export const sharedRun: SharedRun | undefined = runs.at(-1);

export function findShared(runId: string): SharedRun | undefined {
  return runs.find(({ answer }) => answer.run.runId === runId);
}

/** Answers a request of the API from the file. A request that only a server can answer fails. */
export function answerShared(path: string): unknown {
  const { pathname, searchParams } = new URL(path, 'http://file');
  const [area, , id = '', what] = pathname.split('/').slice(2).map(decodeURIComponent);
  if (area === 'sources') return { sources: [] } satisfies SourcesAnswer;
  if (area === 'labels') return { file: '', labels: [] } satisfies LabelsAnswer;
  const run = findShared(id);
  if (run === undefined) throw new Error('The file does not hold this.');
  const { answer, records, rows } = run;
  const from = Number(searchParams.get('from') ?? 0);
  const { lastSeq } = answer.run;
  switch (what) {
    case undefined: {
      const parent = runs.find((one) => one.answer.children.some((child) => child.runId === id))?.answer.run;
      return { ...answer, ...(parent === undefined ? {} : { parent }) } satisfies RunAnswer;
    }
    case 'records': {
      const end = from + Number(searchParams.get('limit'));
      const shown = records.filter(({ seq }) => seq >= from && seq < end);
      return { records: shown, nextSeq: end, lastSeq } satisfies RecordsAnswer;
    }
    case 'rows':
      return { rows: rows.slice(from), upTo: lastSeq + 1 } satisfies RunRowsAnswer;
    case 'find': {
      const words = findWords(searchParams.get('q') ?? '');
      // A record in the file is plain JSON.
      const isFound = ({ payload }: SharedRun['records'][number]): boolean =>
        hasWords(payload as unknown as JsonObject, words);
      const found =
        searchParams.get('direction') === 'prev'
          ? records.findLast((record) => record.seq <= from && isFound(record))
          : records.find((record) => record.seq >= from && isFound(record));
      return { seq: found?.seq ?? null } satisfies FindAnswer;
    }
    default:
      throw new Error('The file does not hold this.');
  }
}
