import type { Run } from '../../core/run/run.ts';
import type { AgentLoop } from './agent-loop.ts';
import { sdkLoop, type SdkLoop } from './sdk-loop.ts';

/** The agent loops of one run: the main loop and concurrent loops. */
interface Loops {
  readonly own: AgentLoop;
  /** Active agent loops by the SDK's loop object. */
  readonly open: Map<SdkLoop, AgentLoop>;
}

/**
 * Assigns events to agent loops and their runs. A run has one loop at a time. A concurrent loop gets a child run, which ends
 * when the SDK reports the end of the loop. Consecutive loops share the run.
 */
export class RunLoops {
  readonly #newLoop: (run: Run) => AgentLoop;
  readonly #ofRun = new WeakMap<Run, Loops>();

  constructor(newLoop: (run: Run) => AgentLoop) {
    this.#newLoop = newLoop;
  }

  /** Returns the loop of a run that calls a model now. */
  asking(run: Run): AgentLoop {
    const { open, own } = this.of(run);
    const sdk = sdkLoop();
    if (sdk === undefined) return own;
    const openLoop = open.get(sdk);
    if (openLoop !== undefined) return openLoop;
    const isBusy = [...open.values()].includes(own);
    const loop = isBusy ? this.#childLoop(run, sdk) : own;
    open.set(sdk, loop);
    sdk.onEnd(() => open.delete(sdk));
    return loop;
  }

  /** Returns the loop of a run that calls a tool now, or shows the tool's result to the model. */
  calling(run: Run, callId: string): AgentLoop {
    const { open, own } = this.of(run);
    const sdk = sdkLoop();
    const openLoop = sdk === undefined ? undefined : open.get(sdk);
    // The SDK builds some results outside its loop.
    return openLoop ?? [...open.values()].find(({ calls }) => calls.has(callId)) ?? own;
  }

  of(run: Run): Loops {
    const knownLoop = this.#ofRun.get(run);
    if (knownLoop !== undefined) return knownLoop;
    const loops = { own: this.#newLoop(run), open: new Map<SdkLoop, AgentLoop>() };
    this.#ofRun.set(run, loops);
    run.beforeEnd(() => loops.own.closing());
    return loops;
  }

  #childLoop(run: Run, sdk: SdkLoop): AgentLoop {
    const child = run.child(sdk.functionId === '' ? {} : { agentName: sdk.functionId });
    const endChild = (): undefined => {
      if (!child.isEnded) child.emit({ type: 'agent_end' });
    };
    sdk.onEnd(endChild);
    run.beforeEnd(endChild);
    return this.of(child).own;
  }
}
