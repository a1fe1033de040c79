/**
 * Cost of a dispatch after a million events relative to a thousand. Run: `node --expose-gc bench/session.bench.ts`. Prints nanoseconds
 * per dispatch at both points, their ratio (constant cost is about 1), and the remaining heap.
 */
import { systemClock } from '../src/base/clock.ts';
import { createSession } from '../src/session/create-session.ts';
import { defineEvent } from '../src/session/define-event.ts';
import { defineSlice } from '../src/session/define-slice.ts';
import { appendAll } from '../src/session/reducers.ts';
import type { Session } from '../src/session/session.ts';
import { toolInvoked } from '../src/session/tool-invoked.ts';

const EARLY = 1000;
const LATE = 1_000_000;
/** Dispatches per sample, and samples per median. */
const STRETCH = 500;
const STRETCHES = 21;

const Noted = defineEvent<{ readonly text: string }>('noted');
const Notes = defineSlice<{ readonly text: string }>('notes').on(Noted, appendAll);

interface Workload {
  readonly name: string;
  step(session: Session, index: number): void;
}

const workloads: readonly Workload[] = [
  { name: 'append', step: (session, index) => session.dispatch(Noted({ text: `note ${index % 7}` })) },
  {
    name: 'append, then read all()',
    step: (session, index) => {
      session.dispatch(Noted({ text: `note ${index % 7}` }));
      session.slice(Notes).all();
    },
  },
  {
    name: 'toolInvoked',
    step: (session, index) => {
      const params = { path: `src/file-${index % 50}.ts`, limit: 200 };
      session.dispatch(toolInvoked({ name: 'read', params, result: 'ok', success: true }));
    },
  },
];

function sessionWith(workload: Workload, events: number): Session {
  const session = createSession({ clock: systemClock, slices: [Notes] });
  for (let index = 0; index < events; index += 1) workload.step(session, index);
  return session;
}

function nanosecondsEach(workload: Workload, sessionFor: () => Session): number {
  const times: number[] = [];
  for (let stretch = 0; stretch < STRETCHES; stretch += 1) {
    const session = sessionFor();
    const began = process.hrtime.bigint();
    for (let index = 0; index < STRETCH; index += 1) workload.step(session, index);
    times.push(Number(process.hrtime.bigint() - began) / STRETCH);
  }
  return times.sort((one, other) => one - other)[Math.floor(STRETCHES / 2)] ?? Number.NaN;
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

for (const workload of workloads) {
  // Warms up the compiler before the first point.
  sessionWith(workload, 50_000);
  const early = nanosecondsEach(workload, () => sessionWith(workload, EARLY));
  const old = sessionWith(workload, EARLY);
  const heapEarly = heapMegabytes();
  for (let index = EARLY; index < LATE; index += 1) workload.step(old, index);
  const growth = heapMegabytes() - heapEarly;
  const late = nanosecondsEach(workload, () => old);
  console.log(
    `${workload.name}: ${early.toFixed(0)} ns at ${EARLY}, ${late.toFixed(0)} ns at ${LATE}, ` +
      `ratio ${(late / early).toFixed(2)}, heap ${growth >= 0 ? '+' : ''}${growth.toFixed(2)} MB`,
  );
}

const full = createSession({ clock: systemClock, slices: [Notes] });
for (let index = 0; index < EARLY; index += 1)
  full.dispatch(toolInvoked({ name: 'a', params: { index }, result: 'ok', success: true }));
const began = process.hrtime.bigint();
for (let index = 0; index < 100; index += 1) full.snapshot();
console.log(`snapshot of ${EARLY} tool calls: ${(Number(process.hrtime.bigint() - began) / 100 / 1e6).toFixed(2)} ms`);
