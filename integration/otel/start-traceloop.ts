import { initialize } from '@traceloop/node-server-sdk';

import { combined } from './telemetry.ts';

const { OTLP_URL = '' } = process.env;

export function startTraceloop(modules: object): void {
  initialize({
    appName: 'agents',
    baseUrl: OTLP_URL,
    apiKey: 'none',
    processor: combined(),
    silenceInitializationMessage: true,
    traceloopSyncEnabled: false,
    instrumentModules: modules,
  });
}
