import type {
  CompareAnswer,
  ErrorAnswer,
  FailingAnswer,
  FindAnswer,
  LabelsAnswer,
  RecordsAnswer,
  RunAnswer,
  RunRowsAnswer,
  RowsAnswer,
  RunsAnswer,
  RunState,
  SourcesAnswer,
  TasksAnswer,
} from '../server/api-shapes.ts';
import type { LabelTarget } from '../../lab/labels.ts';
import type { TrajectoryRecord } from '../../core/records/trajectory-record.ts';
import { TEXT_FILTERS } from '../server/run-query.ts';
import { WRITE_HEADER } from './session.ts';
import { answerShared, sharedRun } from './shared-runs.ts';

const REQUEST_TIMEOUT = 408;

export interface RunAddress {
  readonly source: string;
  readonly runId: string;
}

/** A failed request. `code` is the code sent by the server, or `unreachable`. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly fix: string | undefined;

  constructor(status: number, error: ErrorAnswer['error']) {
    super(error.message);
    this.name = 'ApiError';
    this.code = error.code;
    this.status = status;
    this.fix = error.fix;
  }
}

/** The filters of a run list. All are optional, and they are part of the page's address. */
export type RunFilters = Readonly<Partial<Record<RunFilterName, string>>>;

/** The names of `RunFilters`, in the order in which they appear in an address. */
export const RUN_FILTER_NAMES = [...TEXT_FILTERS, 'sort', 'group'] as const;
type RunFilterName = (typeof RUN_FILTER_NAMES)[number];

export function getSources(): Promise<SourcesAnswer> {
  return get<SourcesAnswer>('/api/sources');
}

export function getTasks(by: 'task' | 'pattern', filters: RunFilters): Promise<TasksAnswer> {
  const query = filterQuery(filters);
  query.set('by', by);
  return get<TasksAnswer>(`/api/tasks?${query}`);
}

export function getFailing(): Promise<FailingAnswer> {
  return get<FailingAnswer>('/api/failing');
}

/** Fetches one page of runs. `limit`: number of rows of the first page; at most 1,000. */
export function getRuns(filters: RunFilters, after: string | undefined, limit = 0): Promise<RunsAnswer> {
  // The first page is small. Further pages are large, so few requests are needed.
  const query = new URLSearchParams({
    limit: after === undefined ? String(Math.min(1_000, Math.max(200, limit))) : '500',
  });
  for (const [name, value] of filterQuery(filters)) query.set(name, value);
  if (after !== undefined) query.set('after', after);
  return get<RunsAnswer>(`/api/runs?${query}`);
}

/** Fetches the rows of at most 100 runs, with the extras that are available in time. */
export function getRows(runs: readonly RunAddress[]): Promise<RowsAnswer> {
  return get<RowsAnswer>(
    `/api/rows?${new URLSearchParams({ ids: runs.map((run) => [run.source, run.runId].map(encodeURIComponent).join('/')).join(',') })}`,
  );
}

/** @param isAgain  the run is still being read: the answer waits for the next part of its overview */
export function getRun(run: RunAddress, isAgain = false): Promise<RunAnswer> {
  return get<RunAnswer>(`${runPath(run)}${isAgain ? '?again' : ''}`);
}

export function getRecords(
  run: RunAddress,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<RecordsAnswer> {
  return get<RecordsAnswer>(`${runPath(run)}/records?from=${from}&limit=${limit}`);
}

export function getRecord(run: RunAddress, seq: number): Promise<TrajectoryRecord> {
  return get<TrajectoryRecord>(`${runPath(run)}/record/${seq}`);
}

/** A search for words in a run. The search includes the record at `from` in both directions. */
export interface FindRequest {
  readonly from: number;
  readonly direction: 'next' | 'prev';
  readonly q: string;
}

/** Returns the next matching record, or null, perhaps after several requests. Throws Error if a damaged record ended it. */
export async function findInRun(run: RunAddress, query: FindRequest): Promise<number | null> {
  let from: number | undefined = query.from;
  while (from !== undefined) {
    const params = new URLSearchParams({ from: String(from), direction: query.direction, q: query.q });
    const { problem, resumeFrom, seq }: FindAnswer = await get<FindAnswer>(`${runPath(run)}/find?${params}`);
    if (seq !== null) return seq;
    if (problem !== undefined) throw new Error(`The search stopped at a damaged record: ${problem.message}`);
    from = resumeFrom;
  }
  return null;
}

export function getRunRows(run: RunAddress, from: number): Promise<RunRowsAnswer> {
  return get<RunRowsAnswer>(`${runPath(run)}/rows?from=${from}`);
}

export function getState(run: RunAddress, call: number): Promise<RunState> {
  return get<RunState>(`${runPath(run)}/state?call=${call}`);
}

export function getComparison(a: string, b: string): Promise<CompareAnswer> {
  return get<CompareAnswer>(`/api/compare?${new URLSearchParams({ a, b })}`);
}

export function getLabels(): Promise<LabelsAnswer> {
  return get<LabelsAnswer>('/api/labels');
}

/** Labels a run or a call (`RUN@CALL`, from 1). A null target removes the label, an undefined note keeps the old one. */
export async function putLabel(id: string, target: LabelTarget | null, note?: string): Promise<LabelsAnswer> {
  const answer = await request('/api/labels', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...WRITE_HEADER },
    body: JSON.stringify({ id, target, note }),
  });
  // The cast is safe for the same reason as in `get`.
  return (await answer.json()) as LabelsAnswer;
}

export function runPath({ source, runId }: RunAddress): string {
  return `/api/runs/${encodeURIComponent(source)}/${encodeURIComponent(runId)}`;
}

export function exportPath(run: RunAddress): string {
  return `${runPath(run)}/export.html`;
}

export async function getExport(run: RunAddress): Promise<string> {
  return (await request(exportPath(run), {})).text();
}

export function filterQuery(filters: RunFilters): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of RUN_FILTER_NAMES) {
    const value = filters[name];
    if (value !== undefined && value !== '') query.set(name, value);
  }
  return query;
}

/** Receives a stream's events until the returned function is called. Resumes after the last one; `onLost` reports a loss. */
export function listenTo<Events extends object>(
  path: string,
  handlers: { readonly [Name in keyof Events]: (data: Events[Name]) => void },
  onLost: (isLost: boolean) => void,
): () => void {
  const events = new EventSource(path);
  for (const [name, handle] of Object.entries<(data: never) => void>(handlers))
    events.addEventListener(name, (event: MessageEvent<string>) => {
      // The cast is safe: the server of the same package sends these events.
      handle(JSON.parse(event.data) as never);
    });
  events.addEventListener('error', () => onLost(true));
  events.addEventListener('open', () => onLost(false));
  return () => events.close();
}

/** The viewer does not respond, and the page retries by itself. */
export function unreachable(): ApiError {
  return new ApiError(0, {
    code: 'unreachable',
    message: 'The viewer does not respond.',
    fix: 'The page may be outdated. It retries automatically.',
  });
}

async function get<Answer>(path: string): Promise<Answer> {
  // The cast is safe: the server is in the same package and uses the same types.
  if (sharedRun !== undefined) return answerShared(path) as Answer;
  const answer = await request(path, {});
  // The cast is safe for the same reason.
  return (await answer.json()) as Answer;
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetchTwice(path, init);
  } catch {
    throw new ApiError(0, {
      code: 'unreachable',
      message: 'The viewer does not respond.',
      fix: 'Is `coxswain view` still running in its terminal? Start it again and open the address it prints.',
    });
  }
  if (answer.ok) return answer;
  throw new ApiError(answer.status, await readError(answer));
}

/** Repeats a read once: the server may close an idle connection at the moment of a request. */
async function fetchTwice(path: string, init: RequestInit): Promise<Response> {
  if (init.method !== undefined) return await fetch(path, init);
  const answer = await fetch(path, init).catch(() => undefined);
  return answer === undefined || answer.status === REQUEST_TIMEOUT ? await fetch(path, init) : answer;
}

async function readError(answer: Response): Promise<ErrorAnswer['error']> {
  if (answer.status === 401) {
    return {
      code: 'no-session',
      message: 'This page has no session with the viewer.',
      fix: 'Open the complete address that `coxswain view` printed in its terminal, with the token at its end.',
    };
  }
  try {
    // The cast is safe for the same reason as in `get`.
    const { error } = (await answer.json()) as Partial<ErrorAnswer>;
    if (error !== undefined) return error;
  } catch {
    // The body is not JSON. The code below handles this.
  }
  return { code: 'unreadable', message: `The viewer responded with ${answer.status} and no reason.` };
}
