import { loadConfigSync } from '../../hosts/config/load-config.ts';
import type { ModelPrices } from '../../core/records/answer-cost.ts';

let loadedPrices: { readonly prices: ModelPrices | undefined } | undefined;

/** Returns the model prices of this folder's configuration, if any. Reads the configuration once per process. */
export function pricesInForce(): ModelPrices | undefined {
  loadedPrices ??= { prices: loadConfigSync({ projectFolder: process.cwd(), env: process.env }).resolved.prices };
  return loadedPrices.prices;
}
