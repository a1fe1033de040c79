import { CoxswainError, invalidArgument } from '../../base/error.ts';

/** A value bound to the resource it is. Made by calling the resource: `Filesystem(disk)`. */
export interface ResourceBinding {
  /** The very resource it is bound to. */
  readonly resource: ResourceIdentity;
  readonly value: unknown;
}

/** What tells one resource from another: the object itself; the name is for messages. */
interface ResourceIdentity {
  readonly resourceName: string;
}

/** Names a resource and its type: call it to bind a value, hand it to `get` to read one. */
export interface Resource<Value> extends ResourceIdentity {
  (value: Value): ResourceBinding;
}

/** What a prompt offers to its providers. */
export interface PromptResources {
  /** @throws CoxswainError "invalid-argument" when nothing is bound to `resource` */
  get<Value>(resource: Resource<Value>): Value;
  /** Undefined when nothing is bound to `resource`. */
  getOptional<Value>(resource: Resource<Value>): Value | undefined;
}

/**
 * Defines a kind of resource: `const Tracker = defineResource<IssueTracker>('tracker')`. Two resources of one name
 * are still two.
 */
export function defineResource<Value>(name: string): Resource<Value> {
  const resource: Resource<Value> = Object.freeze(
    Object.assign((value: Value): ResourceBinding => ({ resource, value }), { resourceName: name }),
  );
  return resource;
}

/** @throws CoxswainError "invalid-definition" when two bindings are of one resource */
export function createPromptResources(bindings: readonly ResourceBinding[]): PromptResources {
  const values = new Map<ResourceIdentity, unknown>();
  for (const { resource, value } of bindings) {
    if (values.has(resource)) {
      const { resourceName } = resource;
      throw new CoxswainError('invalid-definition', `resource "${resourceName}" is bound twice; bind it once`, {
        details: { resource: resourceName },
      });
    }
    values.set(resource, value);
  }
  // A value is bound under a resource only by calling it, which takes a `Value`.
  const getOptional = <Value>(resource: Resource<Value>): Value | undefined =>
    values.get(resource) as Value | undefined;
  return Object.freeze({
    getOptional,
    get<Value>(resource: Resource<Value>): Value {
      const value = getOptional(resource);
      if (value !== undefined) return value;
      throw invalidArgument(
        `no resource "${resource.resourceName}" on this prompt; bind it in definePrompt({ resources }) or use getOptional`,
        { details: { resource: resource.resourceName } },
      );
    },
  });
}

/** The files an agent works on, as far as steering looks at them: read-only and synchronous. */
export interface Filesystem {
  /**
   * True when there is a file or folder at `path`, written as the agent writes it. It may throw: what asked is then
   * skipped and reported. Asked after a tool call, so it should take microseconds.
   */
  exists(path: string): boolean;
}

/** Binds or reads the files of a prompt: `resources: [Filesystem({ exists: existsSync })]`. */
export const Filesystem: Resource<Filesystem> = defineResource<Filesystem>('filesystem');
