import { loadConfigSync } from '../../config/load-config.ts';
import type { ModelPrices } from '../../records/answer-cost.ts';

let known: { readonly prices: ModelPrices | undefined } | undefined;

/** Prices of models that the configuration here names; undefined where it names none. Read once a process. */
export function pricesInForce(): ModelPrices | undefined {
  known ??= { prices: loadConfigSync({ projectFolder: process.cwd(), env: process.env }).resolved.prices };
  return known.prices;
}
