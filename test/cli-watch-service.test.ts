import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';

import { homeOnly, runCli, type CliResult } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

test.skipIf(process.platform !== 'linux')(
  'init --watch writes and starts a unit of systemd, and init --undo removes what it wrote and nothing that was changed',
  async () => {
    const folder = testFolder();
    const asked = join(folder, 'asked.txt');
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/systemctl'), `#!/bin/sh\necho "$@" >> '${asked}'\n`);
    await chmod(join(folder, 'bin/systemctl'), 0o755);
    const env = {
      ...homeOnly(join(folder, 'home')),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_STATE_HOME: join(folder, 'state'),
      PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    };
    const init = (...args: readonly string[]): Promise<CliResult> => runCli(['init', ...args], { cwd: folder, env });
    const unit = join(folder, 'config/systemd/user/coxswain-watch.service');

    const noOne = await init('--watch', '--yes');
    expect([noOne.code, noOne.stderr]).toEqual([2, expect.stringContaining('there is no one to tell')]);
    await mkdir(join(folder, 'config/coxswain'), { recursive: true });
    await writeFile(join(folder, 'config/coxswain/config.json'), JSON.stringify({ notify: { desktop: true } }));
    expect((await init('--watch')).stdout).toContain('nothing was changed');
    expect((await init('--watch', '--dry-run')).stdout).toMatch(/ExecStart=.*"watch" "--background"\n/);
    expect(existsSync(unit)).toBe(false);

    expect(await init('--watch', '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('it runs') });
    expect(await init('--watch', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(unit, 'utf8')).toContain('Restart=on-failure\n');
    const undone = await init('--undo');
    expect([undone.code, undone.stdout]).toEqual([0, expect.stringContaining(`${unit} is removed`)]);
    expect(existsSync(join(folder, 'config/systemd'))).toBe(false);
    const enable = '--user enable --now coxswain-watch\n';
    expect(await readFile(asked, 'utf8')).toBe(`${enable}${enable}--user disable --now coxswain-watch\n`);

    await init('--watch', '--yes');
    await appendFile(unit, '# mine\n');
    expect((await init('--undo', '--watch')).stdout).toBe(`${unit} was changed since, and stays\n`);
    const refused = await init('--watch', '--yes');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('move it away first')]);
    expect(await readFile(unit, 'utf8')).toMatch(/# mine\n$/);
  },
);
