/**
 * Checks the estimates of `coxswain effect` in simulated experiments: the response of the agents to advice is known, each experiment is
 * read ten times as its runs arrive, and recording, assignment and analysis use the code that real runs use.
 *
 * `npx node bench/effect.bench.ts [EXPERIMENTS]`, default 1,000 of each kind: about three minutes.
 */
import { AGENTS, simulateExperiments } from '../test/support/simulated-experiment.ts';

const experiments = Number(process.argv[2] ?? 1_000);
const LOOKS = 10;

const points = (share: number): string => (100 * share).toFixed(1).padStart(6);
console.log(`${experiments} experiments of each kind, ${LOOKS} looks each; points, and per cent of experiments`);
console.log(
  '| agents | runs | truth | bias (standard error) | one look holds | all looks hold | one-look interval, all looks | decided |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const agents of AGENTS) {
  const found = simulateExperiments(agents, experiments, agents.runs / LOOKS);
  const shares = [found.onceHolds, found.alwaysHolds, found.onceHoldsAtEveryLook, found.decided].map(points);
  const bias = `${points(found.bias)} (${points(found.biasError).trim()})`;
  console.log(`| ${[agents.name, agents.runs, points(found.truth), bias, ...shares].join(' | ')} |`);
}
