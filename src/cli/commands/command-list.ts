import type { CommandDefinition } from './command-definition.ts';

/** Functions that load the command definitions, in the order of the help. Only the definition in use is loaded. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandDefinition>>> = {
  analyze: async () => (await import('./analyze/define-analyze.ts')).analyze,
  hook: async () => (await import('./hook/define-hook.ts')).hook,
  runs: async () => (await import('./runs/define-runs.ts')).runs,
  show: async () => (await import('./show/define-show.ts')).show,
  watch: async () => (await import('./watch/define-watch.ts')).watch,
  notify: async () => (await import('./notify/define-notify.ts')).notify,
  demo: async () => (await import('./demo/define-demo.ts')).demo,
  init: async () => (await import('./init/define-init.ts')).init,
  mcp: async () => (await import('./mcp/define-mcp.ts')).mcp,
  serve: async () => (await import('./serve/define-serve.ts')).serve,
  view: async () => (await import('./view/define-view.ts')).view,
  doctor: async () => (await import('./doctor/define-doctor.ts')).doctor,
  report: async () => (await import('./report/define-report.ts')).report,
  status: async () => (await import('./status/define-status.ts')).status,
  search: async () => (await import('./search/define-search.ts')).search,
  verify: async () => (await import('./verify/define-verify.ts')).verify,
  export: async () => (await import('./export/define-export.ts')).exportRuns,
  import: async () => (await import('./import/define-import.ts')).importRuns,
  recover: async () => (await import('./recover/define-recover.ts')).recover,
  gc: async () => (await import('./gc/define-gc.ts')).gc,
  config: async () => (await import('./config/define-config.ts')).config,
  trust: async () => (await import('./trust/define-trust.ts')).trust,
  backtest: async () => (await import('./backtest/define-backtest.ts')).backtestDefinition,
  effect: async () => (await import('./effect/define-effect.ts')).effectDefinition,
};
