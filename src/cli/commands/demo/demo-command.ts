import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { TrajectoryRecord } from '../../../core/records/trajectory-record.ts';
import { importSource } from '../../../formats/import-source.ts';
import { readRuns } from '../../../formats/read-runs.ts';
import { type LiveEvent, liveLines } from '../../runs/live-event.ts';
import { countOf, countText } from '../../../core/base/number-text.ts';
import { openStoreNamed, shownStore, storeNamed, storeFlag } from '../../runs/open-store.ts';
import { printableCut, printable } from '../../../core/base/printable.ts';
import { freeRunId, playSample } from './sample-run.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Health } from '../../../core/run/coxswain.ts';
import type { TrajectoryStore } from '../../../core/store/trajectory-store.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { createRunFold } from '../../runs/run-recorder.ts';
import { terminalText } from '../../document/write-document.ts';
import { runBlocks } from '../../runs/run-blocks.ts';

export interface DemoOptions {
  readonly store?: string;
  readonly fast?: boolean;
}

const SAMPLE_NAME = 'samples/stuck-run.jsonl';
const RUN_ID = 'demo-stuck-run';

/** Path of the bundled sample. The relative path is the same from `dist/cli` and from `src/cli`. */
const SAMPLE = fileURLToPath(new URL(`../../../../${SAMPLE_NAME}`, import.meta.url));

const PAUSE_MS: Readonly<Record<LiveEvent['type'], number>> = { call: 120, pattern: 250, advice: 300, fault: 300 };

export async function demoCommand(options: DemoOptions, terminal: Terminal): Promise<number> {
  const file = storeNamed(options.store, terminal);
  const records = await sampleRecords();
  const isPaced = terminal.isWatched && options.fast !== true;
  const text = { paint: terminal.paint, width: terminal.width, wrap: terminal.isWatched };
  const store = await openStoreNamed(file);
  try {
    const runId = await freeRunId(RUN_ID, records, store);
    await terminal.write(openingText(records, terminal));
    const { health, isStored } = await playSample(records, {
      store,
      runId,
      onEvent: async (event) => {
        await terminal.write(
          liveLines(event, text)
            .map((line) => `${line}\n`)
            .join(''),
        );
        if (isPaced) await sleep(PAUSE_MS[event.type]);
      },
      onListening: async (saved) => {
        const note = `— It follows the advice and leaves this file. In the recording there was no advice: it took ${countOf(saved, 'more call')}.`;
        await terminal.write(`${terminal.paint('green', note)}\n`);
      },
    });
    if (isStored) await terminal.write(await demoClosing({ store, runId, file, source: SAMPLE_NAME }, terminal));
    else terminal.complain(`coxswain: ${shownStore(file)}: the run is not recorded completely`);
    const problem = healthLine(health);
    if (problem !== undefined) terminal.complain(`coxswain: ${problem}`);
    return isStored ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function sampleRecords(): Promise<readonly TrajectoryRecord[]> {
  const records: TrajectoryRecord[] = [];
  for await (const item of readRuns(importSource(SAMPLE), { source: SAMPLE_NAME })) {
    if (item.type === 'record') records.push(item.record);
  }
  return records;
}

function openingText(records: readonly TrajectoryRecord[], { paint }: Terminal): string {
  const [first] = records;
  const task = first?.payload.kind === 'run_started' ? first.payload.task : undefined;
  return (
    `${paint('bold', 'A recorded agent, played through coxswain as if it were live.')}\n` +
    `It gets stuck, gets advice, and finds the way out. Each piece of advice is shown where the agent gets it.\n` +
    (task === undefined ? '\n' : `${paint('dim', `task: ${printableCut(task, 200)}`)}\n\n`)
  );
}

interface RecordedRun {
  readonly store: TrajectoryStore;
  readonly runId: string;
  readonly file: string;
  readonly source: string;
}

async function demoClosing(run: RecordedRun, terminal: Terminal): Promise<string> {
  const { store, runId, file, source } = run;
  const { paint } = terminal;
  const fold = createRunFold(runId, { source });
  for await (const record of store.readRun(runId)) fold.fold(record);
  const report = fold.facts(systemClock.nowMs());
  const { advice, adviceLeftOut } = fold.view;
  const pieces = advice.length + adviceLeftOut;
  const deliveredCount = advice.filter(({ delivery }) => delivery === 'delivered').length;
  const byProvider = Map.groupBy(advice, ({ providerName }) => providerName);
  const providers = [...byProvider].map(([name, { length }]) => `${printableCut(name, 60)} ${countText(length)}`);
  const counts = [
    countOf(report.calls, 'call'),
    countOf(report.patterns.length, 'pattern'),
    pieces === 1 ? '1 piece of advice' : `${countText(pieces)} pieces of advice`,
  ];
  const flag = storeFlag(file);
  const nextLine = (purpose: string, command: string): string => `${purpose.padEnd(27)}${paint('bold', command)}\n`;
  return (
    `\n${terminalText({ blocks: runBlocks(report, false) }, terminal)}\n` +
    `${counts.join(', ')} (${providers.join(', ')}), ${countText(deliveredCount)} delivered.\n\n` +
    `The run is recorded in ${paint('bold', shownStore(file))}.\n` +
    nextLine('Look at it again:', `coxswain show ${printable(runId)}${flag}`) +
    nextLine('Analyse your own runs:', `coxswain analyze PATH…${flag}`) +
    nextLine('Watch running agents:', 'coxswain watch')
  );
}

function healthLine({ recorder, faults, lastFault }: Health): string | undefined {
  const dropped = recorder?.dropped ?? 0;
  const allFaults = faults + (recorder?.faults ?? 0);
  if (dropped === 0 && allFaults === 0) return undefined;
  const last = recorder?.lastFault ?? lastFault;
  const reason = last === undefined ? '' : `: ${printableCut(last, 300)}`;
  return `${countOf(allFaults, 'fault')} and ${countOf(dropped, 'lost record')} while the run was played${reason}`;
}
