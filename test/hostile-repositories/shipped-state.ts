import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { STATE_FILES } from '../../src/core/node/state-places.ts';
import type { Trick } from './trick.ts';

/** Control files that come with the repository. */
export const SHIPPED_STATE: readonly Trick[] = [
  {
    name: 'a backup by which init --undo would replace a file of the user',
    make(place) {
      place.write('.coxswain/init-claude-code.json', backupOf(join(place.home, '.bashrc')), 0o600);
    },
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
  })),
];

function backupOf(file: string): string {
  const after_sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const before = Buffer.from('replaced\n').toString('base64');
  return JSON.stringify({ schema_version: 1, files: [{ file, before, after_sha256, folder_made: null }] });
}
