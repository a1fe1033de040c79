import { switchOf, type ObjectShape } from '../../core/base/shape.ts';
import { DETECTORS } from '../../core/detect/detectors/default-detectors.ts';
import type { DetectorFactory } from '../../core/detect/detectors/define-detector.ts';
import type { PatternDetector } from '../../core/detect/patterns/pattern-detector.ts';
import type { DetectorSection } from './coxswain-config.ts';

const DEFINITIONS: readonly (readonly [string, Pick<DetectorFactory<string>, 'options'>])[] = Object.entries(DETECTORS);

export const detectorShape: ObjectShape = {
  kind: 'object',
  fields: Object.fromEntries(DEFINITIONS.map(([kind, { options }]) => [kind, switchOf(options, true)])),
};

/** Pattern kinds. `ping_pong` has no detector options, because `cycle` finds it. */
export const PATTERN_KINDS: readonly string[] = ['ping_pong', ...Object.keys(DETECTORS)];

/** Returns the enabled detectors of a configuration, in the order of `defaultDetectors()`. */
export function detectorsOf(section: DetectorSection): readonly PatternDetector[] {
  // The type of the section guarantees that each kind has the options of its detector.
  const byKind = section as Readonly<Record<string, boolean | Readonly<Record<string, number>> | undefined>>;
  return Object.entries(DETECTORS).flatMap(([kind, factory]) => {
    // Each detector receives the options stored under its kind.
    const create = factory as unknown as DetectorFactory<string>;
    const options = byKind[kind];
    if (options === false) return [];
    return [typeof options === 'object' ? create(options) : create()];
  });
}
