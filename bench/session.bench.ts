/**
 * A session of the real Claude Code with 14 calls, one an answer, against a fake model server: without hooks, with the hooks that `init`
 * writes (one a turn), with the same hooks as processes of Node that do nothing, and with the hooks of versions before 2.1.118 (two a call
 * and one a turn). Prints the medians of the paired ratios and the number of hook processes a turn.
 * Run: `node bench/session.bench.ts PATH-OF-CLAUDE [rounds] [milliseconds an answer…]` after `node scripts/build.ts`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startFakeAnthropicServer } from '../src/testing/fake-anthropic-server.ts';

const [CLAUDE = 'claude', rounds = '5', ...delays] = process.argv.slice(2);
const ROUNDS = Number(rounds);
const DELAYS_MS = delays.length === 0 ? [0, 1_500] : delays.map(Number);
const CALLS = 14;
const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
const folder = mkdtempSync(join(tmpdir(), 'coxswain-session-bench-'));

type Way = 'none' | 'turn' | 'bare' | 'call';
const WAYS: readonly Way[] = ['none', 'turn', 'bare', 'call'];

interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

function prepare(way: Way): Place {
  const home = join(folder, way);
  const project = join(home, 'project');
  const bin = join(home, 'bin');
  for (const path of [join(project, '.git'), join(home, '.claude'), bin]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ permissions: { allow: ['Bash'] } }));
  const version = way === 'call' ? '2.1.117' : '2.1.118';
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\necho ${version}\n`);
  chmodSync(join(bin, 'claude'), 0o755);
  const { PATH = '' } = process.env;
  const env = { HOME: home, PATH, XDG_STATE_HOME: join(home, 'state') };
  if (way === 'none') return { project, env };
  const args = ['init', 'claude-code', '--yes'];
  const { status, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: project,
    // `init` asks this program for its version.
    env: { ...env, PATH: `${bin}:${PATH}` },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  if (way === 'bare') {
    const settings = settingsOf(project);
    const text = readFileSync(settings, 'utf8').replaceAll(
      /"command": ?"[^"]*"/g,
      `"command": "${process.execPath} -e 0"`,
    );
    writeFileSync(settings, text);
  }
  return { project, env };
}

const settingsOf = (project: string): string => join(project, '.claude', 'settings.local.json');

/** @returns the duration of the session in milliseconds */
async function play({ env, project }: Place, delayMs: number): Promise<number> {
  let turn = 0;
  const server = await startFakeAnthropicServer({
    answerAfterMs: delayMs,
    script: () => {
      turn += 1;
      if (turn > CALLS) return { text: 'Done.' };
      return { calls: [{ name: 'Bash', args: { command: `echo ${turn}`, description: 'x' }, id: `toolu_${turn}` }] };
    },
  });
  const startMs = performance.now();
  const child = spawn(CLAUDE, ['-p', 'Do it', '--model', 'claude-sonnet-4-5', '--max-turns', '40'], {
    cwd: project,
    env: {
      ...env,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: 'sk-ant-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    stdio: 'ignore',
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const durationMs = performance.now() - startMs;
  await server.close();
  if (code !== 0 || turn <= CALLS) throw new Error(`the session ended with ${String(code)} after ${turn} answers`);
  return durationMs;
}

/** The hooks of a turn with one call, by the events of the settings. */
function hooksPerTurn({ project }: Place): string {
  const text = readFileSync(settingsOf(project), 'utf8');
  const events = Object.keys((JSON.parse(text) as { readonly hooks: object }).hooks);
  const perTurn = ['PreToolUse', 'PostToolUse', 'PostToolBatch'].filter((event) => events.includes(event));
  return `${perTurn.length} (${perTurn.join(', ')})`;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const places = new Map(WAYS.map((way) => [way, prepare(way)]));
try {
  for (const delayMs of DELAYS_MS) {
    const times = new Map<Way, number[]>(WAYS.map((way) => [way, []]));
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [way, place] of places) {
        const ms = await play(place, delayMs);
        // The first round fills caches.
        if (round > 0) times.get(way)?.push(ms);
      }
    }
    const bare = times.get('none') ?? [];
    console.log(`model answers after ${delayMs} ms: ${Math.round(median(bare))} ms without hooks, ${ROUNDS} rounds`);
    for (const way of WAYS.slice(1)) {
      const ratios = (times.get(way) ?? []).map((ms, round) => ms / (bare[round] ?? NaN));
      const place = places.get(way);
      const processes = place === undefined ? '' : hooksPerTurn(place);
      console.log(`  ${way}: ${median(ratios).toFixed(2)}x; hooks a turn: ${processes}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
