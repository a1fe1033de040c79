import { AsyncLocalStorage } from 'node:async_hooks';

import * as otel from '@opentelemetry/api';

/** Contexts that follow promises, as the one of OpenTelemetry's Node package. */
export function contextManager(): otel.ContextManager {
  const active = new AsyncLocalStorage<otel.Context>();
  const manager: otel.ContextManager = {
    active: () => active.getStore() ?? otel.ROOT_CONTEXT,
    with: (context, run, self, ...args) => active.run(context, () => run.apply(self, args)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
