import { join } from 'node:path';

import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Sandbox } from './sandbox.ts';
import type { Step, Trick } from './trick.ts';

const TERABYTE = 1024 ** 4;
const NAMED = /coxswain import/;
/** Commands that could take the records in the project for the user's. */
const READ: readonly Step[] = [
  ['report'],
  ['runs'],
  ['verify'],
  ['search', 'build'],
  ['gc', '--older-than', '1d'],
  ['status'],
  ['view', '--no-open', '--port', '0'],
];
const IMPORT: readonly Step[] = [...READ, ['import', '.coxswain/runs.db']];

/** What the repository ships in the place where an earlier version kept its records. */
const SHIPPED: Readonly<Record<string, (place: Sandbox) => void | Promise<void>>> = {
  'a link to a file of the user': (place) => place.link('.coxswain/runs.db', join(place.home, '.bashrc')),
  'a link to a device without end': (place) => place.link('.coxswain/runs.db', '/dev/zero'),
  'a link to itself': (place) => place.link('.coxswain/runs.db', 'runs.db'),
  'a pipe': (place) => place.pipe('.coxswain/runs.db'),
  'a socket': async (place) => place.socket('.coxswain/runs.db'),
  'a folder': (place) => place.folder('.coxswain/runs.db'),
  'a file in the place of its folder': (place) => place.write('.coxswain', 'x'),
  'a link in the place of its folder': (place) => place.link('.coxswain', join(place.root, 'outside')),
};

/** Records of an earlier version: no command opens them unless the user names them. */
export const OLD_RECORDS: readonly Trick[] = [
  {
    name: 'a store with runs of its own',
    async make(place) {
      const store = sqliteStore(place.at('.coxswain/runs.db'));
      const payload = { kind: 'run_started', task: 'theirs', identity: { run_id: 's1', depth: 0 } } as const;
      await store.append([{ schema_version: 1, run_id: 's1', seq: 0, depth: 0, recorded_at_unix_ms: 1, payload }]);
      await store.close();
    },
    also: IMPORT,
    loud: NAMED,
  },
  {
    name: 'a store of a terabyte',
    make: (place) => place.sparse('.coxswain/runs.db', TERABYTE),
    also: READ,
    loud: NAMED,
  },
  {
    name: 'a store of noise',
    make: (place) => place.write('.coxswain/runs.db', 'x\u001b[31m'),
    also: IMPORT,
    loud: NAMED,
  },
  ...Object.entries(SHIPPED).map(([what, make]): Trick => ({ name: `${what} as its store`, make, also: READ })),
];
