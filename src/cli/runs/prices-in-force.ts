import { loadConfigSync } from '../../config/load-config.ts';
import type { ModelPrices } from '../../records/answer-cost.ts';

let known: { readonly prices: ModelPrices | undefined } | undefined;

/** Model prices of the configuration of this folder, if any. Read once per process. */
export function pricesInForce(): ModelPrices | undefined {
  known ??= { prices: loadConfigSync({ projectFolder: process.cwd(), env: process.env }).resolved.prices };
  return known.prices;
}
