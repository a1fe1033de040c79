import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { STATE_FILES, folderOfProject, stateRoot } from '../../src/core/node/state-places.ts';
import { thisProcess } from '../../src/core/node/process-identity.ts';
import { spillEvent } from '../../src/hosts/claude-code/spilled-events.ts';
import type { Trick } from './trick.ts';

/** Control files, marks and records that come with the repository. */
export const SHIPPED_STATE: readonly Trick[] = [
  {
    name: 'settings of a server that name a program',
    make(place) {
      place.program('tool', 'serve');
      place.write('.coxswain/serve.json', serveSettings([place.at('tool')]), 0o600);
    },
    loud: /your coxswain did not create it here/,
    also: [
      ['serve', 'status'],
      ['serve', 'start'],
      ['serve', 'stop'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'settings of a server in every place that looks like a state folder',
    make(place) {
      place.program('tool', 'serve');
      const settings = serveSettings([place.at('tool')]);
      const key = folderOfProject('', place.project).slice(1);
      for (const root of ['', '.coxswain', '.local/state/coxswain', 'state/coxswain', '.cache/coxswain']) {
        place.write(join(root, 'serve.json'), settings, 0o600);
        place.write(join(root, key, 'serve.json'), settings, 0o600);
      }
    },
    also: [
      ['serve', 'status'],
      ['serve', 'start'],
    ],
  },
  {
    name: 'a record of a server that names a process of the user',
    make(place) {
      const child = spawn('sleep', ['1000']);
      place.endWith(() => {
        const wasAlive = child.exitCode === null && child.signalCode === null;
        child.kill('SIGKILL');
        if (!wasAlive) throw new Error('a process of the user was ended');
      });
      place.write(
        '.coxswain/serve.pid',
        JSON.stringify({ build: '0.1.0', holder: { ...thisProcess(), pid: child.pid, processStart: '' } }),
      );
      place.write('.coxswain/serve.json', serveSettings(['sleep', '1000']), 0o600);
    },
    also: [
      ['serve', 'stop'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'a backup by which init --undo would replace a file of the user',
    make(place) {
      place.write('.coxswain/init-claude-code.json', backupOf(join(place.home, '.bashrc')), 0o600);
    },
    loud: /your coxswain did not create it here/,
    also: [
      ['init', '--undo'],
      ['init', '--yes'],
      ['init', '--undo'],
    ],
  },
  {
    name: 'a backup by which init --undo would delete a file of the user',
    make(place) {
      const file = join(place.home, '.claude/settings.json');
      writeFileSync(file, '{}\n');
      const digest = createHash('sha256').update('{}\n').digest('hex');
      const backup = { file, before: null, after_sha256: digest, folder_made: join(place.home, '.claude') };
      place.write('.coxswain/init-claude-code.json', JSON.stringify({ schema_version: 1, files: [backup] }), 0o600);
    },
    also: [
      ['init', '--undo'],
      ['init', '--user', '--undo'],
    ],
  },
  {
    name: 'trust in its own configuration',
    make(place) {
      const text = `import { writeFileSync } from 'node:fs';\nwriteFileSync('${place.ran}/config', '');\nexport default {};\n`;
      place.write('coxswain.config.ts', text);
      const trusted = JSON.stringify({ version: 2, folder: place.project, files: { 'coxswain.config.ts': text } });
      for (const folder of ['.coxswain', '.local/state/coxswain', '.config/coxswain']) {
        place.write(join(folder, STATE_FILES.trust.name), trusted, 0o600);
      }
    },
    loud: /trust/,
    also: [['config', 'show', '--json']],
  },
  ...Object.entries(STATE_FILES).map(([key, { name }]): Trick => ({
    name: `a ${name} (${key}) of bytes that are no text`,
    make: (place) => place.write(`.coxswain/${name}`, new Uint8Array(10_000).fill(0xff), 0o600),
    loud: /your coxswain did not create it here/,
  })),
  {
    name: 'a mark that it made up',
    make(place) {
      place.write('.coxswain/.gitignore', `# coxswain ${'ab'.repeat(16)}\n*\n`);
      place.write('.coxswain/runs.db', '');
    },
    loud: /your coxswain did not create it here/,
  },
  {
    name: 'a mark together with the file that should prove it',
    make(place) {
      const key = 'ab'.repeat(16);
      place.write('.coxswain/.gitignore', `# coxswain ${key}\n*\n`);
      place.write('.coxswain/runs.db', '');
      const known = JSON.stringify({ folder: place.at('.coxswain'), inode: 1, untracked: '' });
      place.write(`.coxswain/mark-${key}.json`, known, 0o600);
      place.write(`.local/state/coxswain/mark-${key}.json`, known, 0o600);
    },
    loud: /your coxswain did not create it here/,
  },
  {
    name: 'a mark that names a file elsewhere',
    make(place) {
      place.write('.coxswain/.gitignore', `# coxswain ../../../../../outside/mark\n*\n`);
      place.write('.coxswain/runs.db', '');
    },
    loud: /your coxswain did not create it here/,
  },
  {
    name: 'the records of another machine, mark and all',
    async make(place) {
      await place.recorded();
      place.isMarked = false;
      cpSync(place.at('.coxswain'), place.at('copy'), { recursive: true });
      rmSync(place.at('.coxswain'), { recursive: true });
      cpSync(place.at('copy'), place.at('.coxswain'), { recursive: true });
      rmSync(place.at('copy'), { recursive: true });
      // As on the machine that it was copied to.
      rmSync(stateRoot({ env: place.env }), { recursive: true });
    },
    loud: /your coxswain did not create it here/,
    also: [['report'], ['view', '--no-open', '--port', '0']],
  },
  {
    name: 'the mark of another project of the user',
    async make(place) {
      await place.recorded();
      const mark = readFileSync(place.at('.coxswain/.gitignore'));
      const sibling = join(place.root, 'sibling');
      mkdirSync(join(sibling, '.coxswain'), { recursive: true });
      writeFileSync(join(sibling, '.coxswain/.gitignore'), mark);
      copyFileSync(place.at('.coxswain/runs.db'), join(sibling, '.coxswain/runs.db'));
      place.project = sibling;
      place.isMarked = false;
    },
    loud: /your coxswain did not create it here/,
  },
  {
    name: 'spilled events beside a store that it does not ship',
    make(place) {
      const event = { session_id: 's1', hook_event_name: 'UserPromptSubmit', prompt: 'from the repository' };
      spillEvent(place.at('.coxswain/runs.db'), { sessionId: 's1', arrivedAtMs: 1, json: event });
    },
    loud: /your coxswain did not create it here/,
    also: [['recover', '.coxswain/runs.db']],
    writes: /^\/\.coxswain/,
  },
  {
    name: 'spilled events of sessions with names that lead elsewhere, in a folder that the user has used',
    async make(place) {
      await place.recorded();
      for (const session of ['../../outside/x', '/etc/x', 'a\nb', '\u0000', '']) {
        const event = { session_id: session, hook_event_name: 'UserPromptSubmit', prompt: 'x' };
        spillEvent(place.at('.coxswain/runs.db'), { sessionId: session, arrivedAtMs: 1, json: event });
      }
    },
  },
  {
    name: 'a spilled event with values nine hundred levels deep',
    async make(place) {
      await place.recorded();
      const deep: unknown = JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`);
      const event = {
        session_id: 's1',
        hook_event_name: 'PreToolUse',
        tool_name: 'x',
        tool_use_id: 'y',
        tool_input: deep,
      };
      spillEvent(place.at('.coxswain/runs.db'), { sessionId: 's1', arrivedAtMs: 1, json: event });
    },
  },
];

function serveSettings(program: readonly string[]): string {
  return JSON.stringify({ port: 1, token: 'x'.repeat(43), program });
}

function backupOf(file: string): string {
  const after_sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const before = Buffer.from('replaced\n').toString('base64');
  return JSON.stringify({ schema_version: 1, files: [{ file, before, after_sha256, folder_made: null }] });
}
