import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { backtest } from '../../src/backtest/backtest.ts';
import type { TrajectoryRecord } from '../../src/records/trajectory-record.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sampleRun } from '../run-cli.ts';
import { findChromium } from './chromium.ts';
import { addRun, faultsOf, shellTurn, startOf, viewerScene, type ViewerScene } from './viewer-scene.ts';

const chromium = findChromium();

/** Six calls of which the second to the fifth fail alike. */
function stuckRun(runId: string, success: boolean): readonly TrajectoryRecord['payload'][] {
  const turns = Array.from({ length: 6 }, (_, at) => {
    const fails = at > 0 && at < 5;
    return shellTurn(
      at,
      fails ? 'make all' : `cat part-${at}`,
      fails ? 'make: no rule for target all' : `${at}`,
      fails,
    );
  });
  return [
    startOf(runId, `Task of ${runId}`),
    ...turns.flat(),
    { kind: 'run_ended', outcome: 'ended', new_messages: [], success },
  ];
}

/** The row of a rule and the one of its moments. */
function ruleRow(page: Page, table: string, rule: string): { readonly head: Locator; readonly moments: Locator } {
  const head = page.getByRole('region', { name: table, exact: true }).getByRole('row', { name: rule }).first();
  return { head, moments: head.locator('xpath=following-sibling::tr[1]') };
}

describe.skipIf(chromium === undefined)('the moments of a backtest (needs a Chromium)', () => {
  let scene: ViewerScene;
  let folder: { readonly path: string; dispose(): Promise<void> };

  beforeAll(async () => {
    folder = await tempFolder();
    const [now, before] = [join(folder.path, 'now.json'), join(folder.path, 'before.json')];
    scene = await viewerScene({
      chromium: chromium ?? '',
      fill: async (store) => {
        await addRun(store, 'went-well', stuckRun('went-well', true));
        await addRun(store, 'went-wrong', stuckRun('went-wrong', false));
      },
      viewer: { reports: [now, before] },
    });
    const elsewhere = join(folder.path, 'elsewhere.jsonl');
    await writeFile(elsewhere, `${sampleRun('elsewhere', 'stuck')}\n`);
    const { report } = await backtest([scene.file, elsewhere]);
    await writeFile(now, JSON.stringify(report));
    // As it was before a report had examples.
    const dropExamples = (name: string, value: unknown): unknown => (name === 'examples' ? undefined : value);
    await writeFile(before, JSON.stringify(report, dropExamples));
  });
  afterAll(async () => {
    await scene.close();
    await folder.dispose();
  });

  test('one click leads from a provider to the call after which it spoke', async () => {
    const page = await scene.open('/?page=experiments&report=0');
    const { moments } = ruleRow(page, 'Advice', 'Pattern');
    await moments.waitFor();
    await expect
      .poll(() => moments.innerText())
      .toMatch(/^False alarms:\s*went-well call 4\s+In runs that went wrong:\s*went-wrong call 4/);
    await moments.getByRole('link', { name: 'went-well call 4' }).click();
    await page.locator('.row.is-selected').waitFor();
    expect(page.url()).toContain('run=went-well');
    await expect.poll(() => page.locator('.row.is-selected').innerText()).toContain('make all');
    // A record for the run, four for each of three turns, two before the call of the fourth.
    expect(new URL(page.url()).searchParams.get('at')).toBe('15');
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('patterns have moments too, and so has each pattern and decision point of a provider', async () => {
    const page = await scene.open('/?page=experiments&report=0');
    const pattern = ruleRow(page, 'Patterns', 'the same error again and again');
    await pattern.moments.waitFor();
    await expect.poll(() => pattern.moments.getByRole('link').count()).toBe(3);
    const detail = ruleRow(
      page,
      'Advice by pattern and decision point',
      'the same error again and again, post tool result',
    );
    await detail.moments.getByRole('link', { name: /^went-wrong/ }).click();
    await page.locator('.row.is-selected').waitFor();
    expect(page.url()).toContain('run=went-wrong');
    await page.context().close();
  });

  test('a moment is reached and opened by keys alone', async () => {
    const page = await scene.open('/?page=experiments&report=0');
    await ruleRow(page, 'Advice', 'Pattern').moments.waitFor();
    await page.getByRole('region', { name: 'Advice', exact: true }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^went-well call \d+$/);
    await page.keyboard.press('Enter');
    await page.locator('.row.is-selected').waitFor();
    expect(page.url()).toContain('run=went-well');
    await page.context().close();
  });

  test('a run without a source is marked, and its link says what to do', async () => {
    const page = await scene.open('/?page=experiments&report=0');
    const { moments } = ruleRow(page, 'Advice', 'Pattern');
    const item = moments.getByRole('listitem').filter({ hasText: 'elsewhere' });
    await expect.poll(() => item.innerText()).toMatch(/^elsewhere call \d+ not here$/);
    await expect.poll(() => moments.getByText('not here').count()).toBe(1);
    await item.getByRole('link').click();
    await page.getByText('No run elsewhere here').waitFor();
    await page.context().close();
  });

  test('a report without examples is shown as it was', async () => {
    const page = await scene.open('/?page=experiments&report=1');
    await ruleRow(page, 'Advice', 'Pattern').head.waitFor();
    expect(await page.locator('.moments').count()).toBe(0);
    expect(faultsOf(page)).toEqual([]);
    await page.context().close();
  });
});
