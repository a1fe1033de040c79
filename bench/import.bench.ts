/**
 * Cost of importing an entry point of the built package relative to a bare Node: processor time of a process that imports it and exits,
 * the third lowest of 15. Run `npm run build`, then `npx node bench/import.bench.ts`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const RUNS = 15;

/** Microseconds of processor time. */
function costOf(code: string): number {
  const costs = Array.from({ length: RUNS }, () => {
    const program = `${code};const { user, system } = process.cpuUsage();process.stdout.write(String(user + system))`;
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stderr);
    return Number(done.stdout);
  });
  return costs.toSorted((left, right) => left - right)[2] ?? 0;
}

// Our package.json.
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>;
};
const bare = costOf('0');
for (const [subpath, target] of Object.entries(exports)) {
  if (typeof target === 'string') continue;
  const name = `coxswain${subpath.slice(1)}`;
  console.log(`${name.padEnd(26)} ${(costOf(`await import(${JSON.stringify(name)})`) / bare).toFixed(2)}x a bare node`);
}
