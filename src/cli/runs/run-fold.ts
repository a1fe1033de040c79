import { defaultDetectors } from '../../core/detect/detectors/default-detectors.ts';
import { RunFactsFold, type RunFactsOptions } from '../../core/facts/run-facts-fold.ts';
import { pricesInForce } from './prices-in-force.ts';

/** Creates the fold of a run with the default detectors and the prices of this folder's configuration. */
export function createRunFold(id: string, options: RunFactsOptions = {}): RunFactsFold {
  return new RunFactsFold(id, { detectors: defaultDetectors(), prices: pricesInForce(), ...options });
}
