import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCoxswain } from '../../core/run/coxswain.ts';
import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { resolveSteering } from '../../core/steering/resolve-steering.ts';
import { memoryStore } from '../../core/store/memory-store.ts';
import { almostConfig, anyConfig } from '../../../test/support/config-arbitrary.ts';
import { readAll } from '../../../test/support/script-records.ts';
import { checkTogether } from './check-together.ts';
import { configFields, decodeConfig, readConfig } from './decode-config.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { detectorsOf, resolveConfig, type ResolvedConfig, steeringOf } from './resolve-config.ts';

const PLACE = { folder: '/project', homeFolder: '/home/someone' };

/** Starts a run, lets a call fail six times and asks for advice at every point. Returns what went wrong. */
async function faultsOf(resolved: ResolvedConfig): Promise<readonly unknown[]> {
  const { steering, redaction, deadline, budget } = resolved;
  const store = memoryStore();
  // A clock that stands still: a limit of a millisecond is no fault of the configuration.
  const cox = createCoxswain({ ...steering, redaction, store, measureMs: () => 0 });
  const run = cox.startRun({
    ...(deadline === undefined ? {} : { deadline }),
    ...(budget === undefined ? {} : { budget }),
  });
  for (let index = 0; index < 6; index += 1) {
    const toolCallId = `call-${index}`;
    run.emit({ type: 'turn_start' });
    run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: 'make' } });
    run.advise('pre_tool_execution');
    run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: 'no rule', isError: true });
    run.advise('post_tool_result');
  }
  await run.end();
  const records = await readAll(store, run.id);
  const { lastFault } = cox.health();
  const failed = records.map(({ payload }) => payload).filter(({ kind }) => kind === 'provider_failed');
  return [...failed, ...(lastFault === undefined ? [] : [lastFault])];
}

test('a run can start, and get advice, with every valid configuration', async () => {
  let started = 0;
  await fc.assert(
    fc.asyncProperty(anyConfig(), async (given) => {
      const decoded = decodeConfig(given);
      if ('problems' in decoded) return;
      started += 1;
      expect(await faultsOf(resolveConfig(decoded.config, PLACE))).toEqual([]);
    }),
    { numRuns: 150 },
  );
  expect(started).toBeGreaterThan(75);
});

test('a run can start with the valid part of every wrong configuration', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyConfig(), almostConfig()), async (given) => {
      const { config } = checkTogether(readConfig(given).config);
      expect(await faultsOf(resolveConfig(config, PLACE))).toEqual([]);
      expect(readConfig(config).problems).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('an empty configuration is the standard steering, down to its hash', () => {
  expect(resolveSteering(steeringOf({})).configurationHash).toBe(resolveSteering({}).configurationHash);
  const tools = { view_logs: {}, request_review: {} };
  expect(resolveSteering(steeringOf({ tools })).configurationHash).toBe(resolveSteering({ tools }).configurationHash);
});

test('the hash of a run’s configuration depends on thresholds', () => {
  const hashOf = (config: CoxswainConfig): string => resolveSteering(steeringOf(config)).configurationHash;
  const hashes = [
    {},
    { guidance: { doomLoop: { maxRepetitions: 4 } } },
    { guidance: { doomLoop: { maxRepetitions: 5 } } },
    { detectors: { stall: { maxCalls: 30 } } },
    { feedback: { pace: { window: 30 } } },
  ].map(hashOf);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(hashOf({ guidance: { doomLoop: { windowSize: 8, maxRepetitions: 4 } } })).toBe(
    hashOf({ guidance: { doomLoop: { maxRepetitions: 4, windowSize: 8 } } }),
  );
});

test('the hash of a resolved configuration does not depend on order and key', () => {
  const hashOf = (config: CoxswainConfig): string => resolveConfig(config, PLACE).hash;
  expect(hashOf({ mode: 'shadow', holdout: 0.1 })).toBe(hashOf({ holdout: 0.1, mode: 'shadow' }));
  expect(hashOf({ $schema: 'x' })).toBe(hashOf({}));
  const key = 'sixteen characters';
  expect(hashOf({ redaction: { mode: 'structureOnly', key } })).toBe(hashOf({ redaction: { mode: 'structureOnly' } }));
  expect(hashOf({ holdout: 0.1 })).not.toBe(hashOf({ holdout: 0.2 }));
  expect(hashOf({ guidance: { doomLoop: { maxRepetitions: 4 } } })).toMatch(/^[0-9a-f]{16}$/);
});

function speakers(config: CoxswainConfig): readonly string[] {
  const { feedback = [], guidance = [] } = steeringOf(config);
  return [...feedback, ...guidance].map(({ provider }) => provider.name);
}

test('a section changes the standard set by name', () => {
  expect(speakers({})).toEqual(['Deadline', 'Pattern', 'Pace']);
  expect(
    speakers({
      feedback: {
        pace: false,
        drift: true,
        static: [{ name: 'Report', summary: 'A report is there.', trigger: { onFileCreated: 'REPORT.md' } }],
      },
      guidance: {
        parallelToolReminder: false,
        doomLoop: true,
        bank: [{ key: 'run-tests', content: 'Run the tests.', when: { errorStreak: true } }],
      },
    }),
  ).toEqual(['Deadline', 'Pattern', 'Drift', 'Report', 'doom_loop', 'run-tests']);
});

test('without the standard set only the named providers speak', () => {
  expect(speakers({ standard: false })).toEqual([]);
  expect(
    speakers({ standard: false, feedback: { pattern: true, pace: false }, guidance: { doomLoop: { windowSize: 8 } } }),
  ).toEqual(['Pattern', 'doom_loop']);
});

test('options without limits and trigger keep those of the standard set', () => {
  const { guidance = [], feedback = [] } = steeringOf({
    feedback: { pace: { window: 30 }, deadline: { trigger: { everyNCalls: 3 } } },
    guidance: { doomLoop: { maxRepetitions: 4 }, parallelToolReminder: { maxPerRun: 1 } },
  });
  const limitsOf = (name: string): object => {
    const { provider: _provider, ...limits } = guidance.find(({ provider }) => provider.name === name) ?? {};
    return limits;
  };
  expect(limitsOf('doom_loop')).toEqual({ maxPerTurn: 1, minConfidence: 0.7 });
  expect(limitsOf('parallel_tool_reminder')).toEqual({ maxPerTurn: 1, cooldownTurns: 10, maxPerRun: 1 });
  expect(feedback.map(({ provider, trigger }) => [provider.name, trigger])).toEqual([
    ['Deadline', { everyNCalls: 3 }],
    ['Pattern', undefined],
    ['Pace', { everyNCalls: 1 }],
  ]);
});

test('all detectors are on except those switched off', () => {
  const names = defaultDetectors().map(({ name }) => name);
  expect(detectorsOf({}).map(({ name }) => name)).toEqual(names);
  expect(detectorsOf({ drift: false, stall: { maxCalls: 5 } }).map(({ name }) => name)).toEqual(
    names.filter((name) => name !== 'drift'),
  );
  const fields = configFields().filter(({ path }) => /^detectors\.[^.]+$/.test(path));
  expect(fields.map(({ path }) => path.replace('detectors.', ''))).toEqual(names);
});

test('a threshold reaches its provider', () => {
  const speaks = (config: CoxswainConfig): boolean => {
    const run = createCoxswain({ ...steeringOf(config), delivery: 'all' }).startRun();
    let isSpoken = false;
    for (let index = 0; index < 3; index += 1) {
      const toolCallId = `call-${index}`;
      run.emit({ type: 'turn_start' });
      run.emit({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: { command: `make ${index}` } });
      run.emit({ type: 'tool_execution_end', toolCallId, toolName: 'bash', result: `no rule ${index}`, isError: true });
      isSpoken ||= run.advise('post_tool_result').some(({ text }) => text.includes('console errors'));
    }
    return isSpoken;
  };
  const alone = { standard: false, guidance: { diagnosticSignal: { errorThreshold: 3, logToolName: 'view_logs' } } };
  expect(speaks(alone)).toBe(true);
  expect(speaks({ ...alone, guidance: { diagnosticSignal: { errorThreshold: 4, logToolName: 'view_logs' } } })).toBe(
    false,
  );
});
