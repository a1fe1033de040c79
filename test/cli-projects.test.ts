import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { createCoxswain } from '../src/core/run/coxswain.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { homeOnly, jsonLines, runCli, type CliResult } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';
import { storeFileOf } from './user-state.ts';

/** A user with two projects, in each of which an agent was recorded. */
class User {
  readonly home: string = testFolder();
  readonly env: Readonly<Record<string, string>> = homeOnly(this.home);

  folder(project: string): string {
    const folder = join(this.home, 'code', project);
    mkdirSync(join(folder, '.git'), { recursive: true });
    return folder;
  }

  async record(project: string, ...runIds: readonly string[]): Promise<void> {
    const file = storeFileOf({ project: this.folder(project), env: this.env });
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const store = sqliteStore(file);
    const cox = createCoxswain({ store });
    for (const runId of runIds) cox.startRun({ runId, task: `task of ${runId}` }).emit({ type: 'turn_start' });
    await cox.close();
    await store.close();
  }

  async run(project: string, ...args: readonly string[]): Promise<CliResult> {
    return runCli(args, { cwd: this.folder(project), env: this.env });
  }
}

test('runs, show and report read every project of the user, and --project narrows them', async () => {
  const user = new User();
  await user.record('app', 'in-app', 'shared');
  await user.record('site', 'in-site', 'shared');
  const idsOf = ({ stdout }: CliResult): readonly string[] =>
    jsonLines(stdout).flatMap(({ id, runId = id }) => (typeof runId === 'string' ? [runId] : []));
  const sorted = (ids: readonly string[]): readonly string[] => ids.toSorted((a, b) => a.localeCompare(b));

  const all = await user.run('app', 'runs', '--json');
  expect([all.code, all.stderr]).toEqual([0, '']);
  expect(sorted(idsOf(all))).toEqual(['in-app', 'in-site', 'shared']);
  const runs = jsonLines(all.stdout);
  expect(runs.find(({ runId }) => runId === 'in-site')).toMatchObject({ project: 'site' });
  // A run in two stores is that of this project.
  expect(runs.find(({ runId }) => runId === 'shared')).toMatchObject({ project: user.folder('app') });
  expect((await user.run('app', 'runs')).stdout).toContain('run in-site, project site');

  const pages = [await user.run('app', 'runs', '--json', '--limit', '2')];
  const [, cursor = ''] = /--after (\S+)/.exec(pages[0]?.stderr ?? '') ?? [];
  pages.push(await user.run('app', 'runs', '--json', '--limit', '2', '--after', cursor));
  expect(sorted(pages.flatMap(idsOf))).toEqual(['in-app', 'in-site', 'shared']);

  for (const project of ['site', '../site'])
    expect(sorted(idsOf(await user.run('app', 'runs', '--json', '--project', project)))).toEqual(['in-site', 'shared']);
  expect((await user.run('app', 'show', 'in-site')).stdout).toContain('task of in-site');

  const report = await user.run('app', 'report', '--json');
  expect(sorted(idsOf(report))).toEqual(['in-app', 'in-site', 'shared']);
  expect(jsonLines(report.stdout).at(-1)).toMatchObject({
    projects: expect.arrayContaining([expect.objectContaining({ project: user.folder('app'), count: 2 })]),
  });
});

test('outside of a recorded project, runs are those of the others, and a damaged store of another project is left out', async () => {
  const user = new User();
  await user.record('site', 'in-site');
  const { code, stdout } = await user.run('empty', 'runs', '--json');
  expect([code, jsonLines(stdout).map(({ runId }) => runId)]).toEqual([0, ['in-site']]);
  await user.record('app', 'in-app');
  writeFileSync(storeFileOf({ project: user.folder('site'), env: user.env }), 'no store');
  const left = await user.run('app', 'runs', '--json');
  expect([left.code, jsonLines(left.stdout).map(({ runId }) => runId)]).toEqual([0, ['in-app']]);
  expect(left.stderr).toContain('is left out');
});
