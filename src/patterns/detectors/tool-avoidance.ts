import type { Json } from '../../base/json.ts';
import type { PatternDetector } from '../pattern-detector.ts';
import { gradeCount, withEvidence } from './level.ts';
import { flag, list, object, text, type ShapesOf } from '../../base/shape.ts';
import { defineDetector, repeats, type DetectorDefinition } from './define-detector.ts';

/** A tool that should be used, and what stands in for it. */
export interface Recommendation {
  /** Names under which the recommended tool goes; any of them counts as using it. */
  readonly tools: readonly string[];
  /** Programs or tools used in its stead. */
  readonly insteadOf: readonly string[];
  /** True when the run surely has the tool; by default it counts as there once it was used. */
  readonly available?: boolean;
}

/** Options of `toolAvoidanceDetector`. */
export interface ToolAvoidanceOptions {
  /** Tools, and what is used in their stead; default: search and file tools of coding agents, and their shell programs. */
  readonly recommendations?: readonly Recommendation[];
  /** Stand-ins in a row, the recommended tool not used between, at which it warns; default 10. */
  readonly warnAt?: number;
}

/** File tools that coding agents bring along, and the shell programs that agents fall back to. */
const DEFAULT_RECOMMENDATIONS: readonly Recommendation[] = [
  { tools: ['Grep', 'grep', 'grep_search', 'search_files'], insteadOf: ['grep', 'rg', 'egrep', 'ag'] },
  { tools: ['Read', 'read_file', 'view_file'], insteadOf: ['cat', 'head', 'tail'] },
  { tools: ['Glob', 'glob', 'find_files', 'file_search'], insteadOf: ['find', 'fd'] },
];

interface Entry {
  readonly available: boolean;
  readonly count: number;
  readonly evidence: readonly number[];
}

/**
 * A tool made for the job lies idle while something else stands in for it. Inefficient, not stuck. By default a tool
 * counts as available once the run has used it, so nothing is recommended that may not exist.
 *
 * Warns at:
 * - 10 calls in a row (`warnAt`), such as `grep` in a shell while a search tool lies idle (`recommendations`).
 */
export function toolAvoidanceDetector(options: ToolAvoidanceOptions = {}): PatternDetector {
  const { recommendations = DEFAULT_RECOMMENDATIONS, warnAt = 10 } = options;
  return {
    name: 'tool_avoidance',
    start(snapshot?: Json) {
      // A snapshot given to a detector is its own: the analysis keeps them by name.
      const entries = (snapshot as unknown as Entry[] | undefined) ?? recommendations.map(fresh);
      return {
        observe(step) {
          for (const [at, recommendation] of recommendations.entries()) {
            const entry = entries[at] ?? fresh(recommendation);
            if (recommendation.tools.includes(step.tool)) {
              entries[at] = { available: true, count: 0, evidence: [] };
            } else if (entry.available && recommendation.insteadOf.includes(step.program)) {
              const counted = { ...entry, count: entry.count + 1, evidence: withEvidence(entry.evidence, step.index) };
              entries[at] = counted;
              const grade = gradeCount(counted.count, warnAt);
              if (grade === undefined) continue;
              const tool = recommendation.tools[0] ?? '';
              return [
                {
                  kind: 'tool_avoidance',
                  key: tool,
                  stuck: false,
                  ...grade,
                  occurrences: counted.count,
                  tool,
                  evidence: counted.evidence,
                },
              ];
            }
          }
          return undefined;
        },
        snapshot: () => entries as unknown as Json,
      };
    },
  };
}

function fresh(recommendation: Recommendation): Entry {
  return { available: recommendation.available === true, count: 0, evidence: [] };
}

const toolOrProgram = text('the name of a tool or program', { maxChars: 128, pattern: () => /\S/ });

export const toolAvoidance: DetectorDefinition<ToolAvoidanceOptions> = defineDetector<ToolAvoidanceOptions>(
  {
    recommendations: list(
      object(
        {
          tools: list(toolOrProgram, 32, 1),
          insteadOf: list(toolOrProgram, 32, 1),
          available: flag(false),
        } satisfies ShapesOf<Recommendation>,
        { required: ['tools', 'insteadOf'], strict: true },
      ),
      32,
    ),
    warnAt: repeats(10),
  },
  toolAvoidanceDetector,
);
