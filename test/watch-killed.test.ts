import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';

import { homeOnly, runCli } from './run-cli.ts';
import { inFaults, rounds, thorough } from './support/rounds.ts';
import { seededRandom } from './support/seeded-random.ts';
import { testFolder } from './support/test-folder.ts';

const ROUNDS = rounds({ full: 50, short: 1 });
const SEED = 35;
/** Longer than the time after which the watch looks again. */
const LONGEST_LIFE_MS = 12_000;

/** A session of Claude Code in which the same call failed four times, now. */
function stuckSession(sessionId: string): string {
  const common = { sessionId, cwd: '/gone/shop', isSidechain: false, timestamp: new Date().toISOString() };
  const line = (type: string, uuid: string, message: object): string =>
    JSON.stringify({ ...common, type, uuid: `${sessionId}-${uuid}`, message });
  const calls = [1, 2, 3, 4].flatMap((at) => {
    const use = { type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: 'make' } };
    const result = { type: 'tool_result', tool_use_id: `t${at}`, content: 'no rule', is_error: true };
    return [
      line('assistant', `a${at}`, { id: `m${at}`, role: 'assistant', content: [use] }),
      line('user', `r${at}`, { role: 'user', content: [result] }),
    ];
  });
  return `${[line('user', 'task', { role: 'user', content: `task of ${sessionId}` }), ...calls].join('\n')}\n`;
}

// `npm test` has the kill of a watch in cli-watch-machine.test.ts.
test.runIf(thorough)(
  `a watch in the background that is killed ${ROUNDS} times at random tells each event, and says which it may have told before${inFaults}`,
  async () => {
    const folder = testFolder();
    const startDay = new Date().getUTCDate();
    const random = seededRandom(SEED);
    const told: string[] = [];
    const repeated: string[] = [];
    const shared: string[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      request.on('end', () => {
        const { message, run } = JSON.parse(text);
        // The failure that these sessions have in common is one event of them all.
        if (String(message).includes('is one of 5 sessions')) shared.push(String(message));
        else (String(message).includes('may have been sent before') ? repeated : told).push(String(run));
        response.end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // It listens on a port, not on a pipe.
    const { port } = server.address() as AddressInfo;
    onTestFinished(() => void server.close());
    const env = {
      ...homeOnly(join(folder, 'home')),
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
    };
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    const notify = { webhook: `http://127.0.0.1:${port}/`, on: ['stuck'] };
    write('config/coxswain/config.json', JSON.stringify({ notify }));
    const watch = (option: string) => runCli(['watch', option], { cwd: folder, env });
    const names = Array.from({ length: ROUNDS }, (_, at) => `s${at}`);
    try {
      for (const name of names) {
        const { stdout } = await watch('--background');
        write(`home/.claude/projects/-${name}/${name}.jsonl`, stuckSession(name));
        await sleep(random() * LONGEST_LIFE_MS);
        process.kill(Number(/process (\d+)/.exec(stdout)?.[1]), 'SIGKILL');
      }
      await watch('--background');
      const missing = () => names.filter((name) => !told.includes(name) && !repeated.includes(name));
      await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    } finally {
      await watch('--stop');
    }
    expect(told).toEqual([...new Set(told)]);
    // Such a failure is told once a day.
    expect(shared.length).toBeLessThanOrEqual(new Date().getUTCDate() === startDay ? 1 : 2);
  },
  60_000 + ROUNDS * 15_000,
);
