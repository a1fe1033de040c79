import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { tempFolder } from '../support/temp-folder.ts';
import { findChromium } from './chromium.ts';
import { addRun, addSampleRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** A repository with a configuration that is code, and with one that is data. */
async function writeConfigurations(folder: string): Promise<void> {
  const project = join(folder, 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  const ran = JSON.stringify(join(folder, 'ran'));
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${ran}, ''); export default {};`;
  await writeFile(join(project, 'coxswain.config.ts'), code);
  await writeFile(join(folder, 'quiet.json'), JSON.stringify({ feedback: { pattern: false } }));
}

describe.skipIf(chromium === undefined)('what another configuration would have said (needs a Chromium)', () => {
  let scene: ViewerScene;
  let files: { readonly path: string; dispose(): Promise<void> };

  beforeAll(async () => {
    files = await tempFolder();
    await writeConfigurations(files.path);
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addSampleRun(store);
        for (let at = 0; at < 3; at += 1) {
          const turns = Array.from({ length: 12 }, (_, call) => shellTurn(call, 'make', 'make: no rule', true)).flat();
          await addRun(store, `failing-${at}`, [startOf(`failing-${at}`, 'Build it'), ...turns]);
        }
      },
      viewer: { configs: [join(files.path, 'quiet.json')], projectFolder: join(files.path, 'project') },
    });
  });
  afterAll(async () => {
    await scene.close();
    await files.dispose();
  });

  test('is compared with the advice of a run: the standard set repeats it, another one gives less', async () => {
    const page = await scene.open('/?source=0&run=stuck-run');
    await page.getByRole('tab', { name: 'What if' }).click();
    await page.getByLabel('Replay under').selectOption({ label: 'the standard set' });
    const lane = page.getByRole('complementary');
    await expect.poll(() => lane.innerText()).toMatch(/\d+ the same/);
    expect(await lane.innerText()).not.toMatch(/\d+ (new|gone|earlier|later)/);
    await page.getByLabel('Replay under').selectOption({ label: 'quiet.json' });
    await expect.poll(() => lane.innerText()).toMatch(/\d+ gone/);
    await expect.poll(() => page.url()).toContain('under=file-0');
    await lane.locator('.card button.link').first().click();
    await expect.poll(() => page.locator('.row.is-selected').count()).toBe(1);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('shows the advice of a run without steering as new', async () => {
    const page = await scene.open('/?source=0&run=failing-0&under=standard');
    await expect.poll(() => page.getByRole('complementary').innerText()).toMatch(/\d+ new/);
    await page.context().close();
  });

  test('is counted over the filtered runs on demand, and each change leads to its moment', async () => {
    const page = await scene.open('/?page=experiments&task=Build+it');
    await page.getByRole('button', { name: 'Replay 3 runs' }).click();
    const table = page.getByRole('region', { name: /^What changes, in 3 runs/ });
    await expect.poll(() => table.innerText()).toMatch(/all\s+0\s+[1-9]/);
    await page.getByRole('region', { name: 'Moments' }).getByRole('link').first().click();
    await expect.poll(() => page.locator('.row.is-selected').count()).toBe(1);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('is swept over the values of one number on demand', async () => {
    const page = await scene.open('/?page=experiments&task=Build+it');
    await page.getByLabel('Sweep').fill('nothing=2..3');
    await page.getByRole('button', { name: 'Replay 3 runs' }).click();
    await page.getByText('nothing', { exact: false }).first().waitFor();
    await page.getByLabel('Sweep').fill('doomLoop.maxRepetitions=2,3,20');
    await page.getByRole('button', { name: 'Replay 3 runs' }).click();
    const table = page.getByRole('region', { name: /^Sweep of guidance.doomLoop.maxRepetitions/ });
    await expect.poll(() => table.locator('tbody th').allInnerTexts()).toEqual(['2', '3', '20']);
    await page.context().close();
  });

  test('never runs code that came with a repository', async () => {
    const page = await scene.open('/?source=0&run=stuck-run&under=project');
    await expect.poll(() => page.getByRole('complementary').innerText()).toMatch(/\d+ the same|cannot be used/);
    expect(existsSync(join(files.path, 'ran'))).toBe(false);
    await page.context().close();
  });
});
