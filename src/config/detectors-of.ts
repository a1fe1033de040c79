import { switchOf, type ObjectShape } from '../base/shape.ts';
import { DETECTORS } from '../patterns/detectors/default-detectors.ts';
import type { DetectorFactory } from '../patterns/detectors/define-detector.ts';
import type { PatternDetector } from '../patterns/pattern-detector.ts';
import type { DetectorSection } from './coxswain-config.ts';

const DEFINITIONS: readonly (readonly [string, Pick<DetectorFactory<object>, 'options'>])[] = Object.entries(DETECTORS);

/** `detectors`: by the kind of pattern, as reports name it. */
export const detectorShape: ObjectShape = {
  kind: 'object',
  fields: Object.fromEntries(DEFINITIONS.map(([kind, { options }]) => [kind, switchOf(options, true)])),
};

/** Kinds of patterns that are found. `ping_pong` has no thresholds of its own: `cycle` finds it. */
export const PATTERN_KINDS: readonly string[] = ['ping_pong', ...Object.keys(DETECTORS)];

/** The detectors of a configuration, in the order of `defaultDetectors()`: all that are not switched off. */
export function detectorsOf(section: DetectorSection): readonly PatternDetector[] {
  // A section has each detector's own options under its kind.
  const given = section as Readonly<Record<string, boolean | object | undefined>>;
  return Object.entries(DETECTORS).flatMap(([kind, factory]) => {
    // What stands under its kind is what it takes.
    const create = factory as unknown as DetectorFactory<object>;
    const options = given[kind];
    if (options === false) return [];
    return [typeof options === 'object' ? create(options) : create()];
  });
}
