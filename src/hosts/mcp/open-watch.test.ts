import { rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';

import { readFaults } from '../../core/node/fault-log.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { openWatch } from './mcp-watch.ts';
import { projectStoreFile } from '../../core/node/git-folder.ts';

async function recordCall(): Promise<void> {
  const opened = await openWatch(process.env);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look', arguments: {} } };
  if (opened === undefined) throw new Error('nothing is watched');
  opened.watch.client.line(Buffer.from(`${JSON.stringify(call)}\n`));
  await opened.close('ended');
}

test('a store that cannot be opened is one line of the fault log, and the proxy goes on', async () => {
  const folder = await tempFolder();
  const projectFolder = folder.path;
  onTestFinished(async () => folder.dispose());
  vi.stubEnv('CLAUDE_PROJECT_DIR', projectFolder);
  onTestFinished(() => void vi.unstubAllEnvs());
  await recordCall();
  const store = projectStoreFile(projectFolder, { env: process.env });
  for (const suffix of ['', '-wal', '-shm']) rmSync(store + suffix, { force: true });
  writeFileSync(store, 'no database '.repeat(1_000));
  await recordCall();
  const faults = readFaults({ env: process.env, projectFolder }).map(({ message, where }) => `${where}: ${message}`);
  expect(faults).toEqual([expect.stringMatching(/^mcp: .* is not an SQLite database/)]);
});
