import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';

import { BACKTEST_REPORT_VERSION } from '../../backtest/backtest-report.ts';
import { CoxswainError, messageOf } from '../../base/error.ts';
import type { ReportsAnswer } from './api-shapes.ts';
import { problemOf, viewerFault } from './viewer-fault.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** The backtest reports that the viewer shows. They are read on each request, so they can be rebuilt while the server runs. */
export class ReportFiles {
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  async list(): Promise<ReportsAnswer> {
    const reports = this.#paths.map(async (path, index) => {
      const row = { id: String(index), name: basename(path), path };
      try {
        await readReport(path);
        return row;
      } catch (error) {
        return { ...row, problem: problemOf(error).problem };
      }
    });
    return { reports: await Promise.all(reports) };
  }

  /** Returns the report's JSON. @throws CoxswainError with the reason `not-found`; `input-io`, `input-too-large`, `format-invalid` */
  async read(id: string): Promise<string> {
    const path = /^\d{1,6}$/.test(id) ? this.#paths[Number(id)] : undefined;
    if (path === undefined) throw viewerFault('not-found', 'there is no such report', 'Give it with --report FILE.');
    return readReport(path);
  }
}

async function readReport(path: string): Promise<string> {
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new CoxswainError('input-too-large', `${path}: ${size} bytes; at most ${MAX_BYTES} are read`);
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CoxswainError) throw error;
    throw new CoxswainError('input-io', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    report = undefined;
  }
  const isReport =
    typeof report === 'object' &&
    report !== null &&
    'version' in report &&
    report.version === BACKTEST_REPORT_VERSION &&
    'parts' in report &&
    Array.isArray(report.parts);
  if (isReport) return text;
  throw new CoxswainError(
    'format-invalid',
    `${path} is not a report of this version; create one with: coxswain backtest PATHS --json`,
  );
}
