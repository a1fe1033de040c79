import { availableParallelism } from 'node:os';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { expect, test } from 'vitest';

import { useStoresFolder } from '../../../test/cli-stores.ts';
import type { RunFacts } from '../../core/facts/run-facts.ts';
import { findSources, type FoundSource } from '../../formats/find-sources.ts';
import { RunIds } from '../../formats/run-ids.ts';
import { Terminal } from '../terminal/terminal.ts';
import { Problems } from './problems.ts';
import { runsOfSources } from './runs-from.ts';
import { SessionThreads } from './session-threads.ts';

const here = useStoresFolder();

function session(id: string, result: string): string {
  const calls = [{ tool: 'Bash', args: { command: `rtk ${id}`, token: `ghp_${id.repeat(36).slice(0, 36)}` }, result }];
  return `${JSON.stringify({ id, calls })}\n`;
}

/** Sources that are worth a thread by what is said of their size. */
async function* largeSources(folder: string): AsyncGenerator<FoundSource> {
  for await (const source of findSources([folder])) yield { ...source, sizeBytes: 200_000_000 };
}

test.skipIf(availableParallelism() === 1)(
  'threads read what the main thread reads, with the same ids, losses and order',
  async () => {
    const folder = join(here.cwd, 'many');
    await mkdir(folder);
    const { files, lines } = { files: 6, lines: 'x '.repeat(20_000) };
    for (let file = 0; file < files; file += 1) {
      // The ids of the last two files occur before.
      const text = session(String(file % 4), lines) + session(`${file}b`, 'none') + (file === 2 ? '{"id":\n' : '');
      await writeFile(join(folder, `${file}.jsonl`), text);
    }
    await writeFile(join(folder, '7.jsonl'), 'no trajectory\n');
    const read = async (
      usesThreads: boolean,
    ): Promise<{ readonly runs: readonly RunFacts[]; readonly said: string }> => {
      const stderr = new PassThrough();
      const problems = new Problems(new Terminal({ stdout: new PassThrough(), stderr }));
      const query = { problems, ids: new RunIds(), reportsDamage: true, withProject: true, usesThreads };
      const runs = await Array.fromAsync(runsOfSources(largeSources(folder), query));
      problems.endSources(query.ids.repeated);
      return { runs, said: String(stderr.read()) };
    };
    const [plain, threaded] = [await read(false), await read(true)];
    expect(plain.runs).toHaveLength(12);
    expect(plain.said).toContain('2 runs have the id of an earlier run');
    expect(threaded).toEqual(plain);
  },
);

test.skipIf(availableParallelism() === 1)(
  'a thread answers with the runs of a source, and not for one that it cannot read',
  async () => {
    const [good, bad] = [join(here.cwd, 'good.jsonl'), join(here.cwd, 'bad.jsonl')];
    await writeFile(good, session('a', 'none'));
    await writeFile(bad, 'no trajectory\n');
    const threads = new SessionThreads({});
    const ask = (path: string): unknown => threads.ask({ path, named: true, sizeBytes: 200_000_000 });
    expect(threads.ask({ path: good, named: true, sizeBytes: 1_000 })).toBeUndefined();
    const answers = await Promise.all([ask(good), ask(bad)]);
    await threads.close();
    expect(answers).toMatchObject([{ events: [{ type: 'run', run: { id: 'a' } }] }, undefined]);
  },
);
