import type { WriteAdapterOptions } from '../base-setup/index.ts';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import type { PPOConfig } from '../config/ppo-config.ts';
import type { RolloutSpec } from '../config/rollout-spec.ts';
import { randomStream } from '../engine/random/index.ts';
import { createSequences } from '../generation/create-sequences.ts';
import type { GeneratedText, GenerationOptions } from '../generation/index.ts';
import type { Sequence } from '../generation/sequence.ts';
import type { PolicyModel } from '../models/index.ts';
import { mapConcurrently } from '../reward-kl/function-source.ts';
import type { JobContext, RolloutJob, StepJobs } from '../training/index.ts';
import { AdapterPublisher } from './adapter-publisher.ts';
import { findLogprobProblem } from './find-logprob-problem.ts';
import { readCompletion } from './read-completion.ts';
import { type ConnectionLimits, ServerConnection } from './server-connection.ts';
import type { Completion, CompletionRequest, ServerProtocol } from './server-protocol.ts';
import { SglangProtocol } from './sglang-protocol.ts';
import { VllmProtocol } from './vllm-protocol.ts';

/** The server, the policy that it generates with, and limits of requests. */
export interface RolloutServerOptions extends ConnectionLimits {
  readonly spec: RolloutSpec;
  /** The settings that the server must be able to sample with. */
  readonly config: Pick<PPOConfig, 'temperature' | 'topK' | 'topP' | 'minP' | 'maxNewTokens'>;
  /** Folder that the server reads adapters from; a temporary one by default. */
  readonly folder?: string | undefined;
  /** Sent as bearer authorisation; `PROXIMAL_ROLLOUT_TOKEN` by default. */
  readonly token?: string | undefined;
  /** Its adapter is pushed whenever it has changed. */
  readonly policy: Pick<PolicyModel, 'adapter' | 'base'>;
  readonly tokenizer: Tokenizer;
  /** What is written with each adapter, such as the name of the base. */
  readonly about?: WriteAdapterOptions | undefined;
  /** Prompts that are requested at the same time; 64 by default. */
  readonly concurrency?: number | undefined;
}

/** How often a request pushes an adapter that the server does not know before it fails. */
const MAX_PUSHES = 3;
/** Seconds that removing the last adapter may take. */
const DISPOSE_TIMEOUT = 5;

/** What the server said about itself. */
interface ServerFacts {
  /** Most tokens of a prompt with its response, if the server reports it. */
  readonly maxLength: number | undefined;
}

/** Generates responses on a vLLM or SGLang server with the current weights of the policy. */
export class RolloutServer {
  private readonly options: RolloutServerOptions;
  private readonly connection: ServerConnection;
  private readonly protocol: ServerProtocol;
  private readonly publisher: AdapterPublisher;
  private facts: ServerFacts | undefined;

  constructor(options: RolloutServerOptions) {
    const { spec, folder, about, token, timeout, retries, backoff } = options;
    const [label, Protocol] =
      spec.kind === 'vllm'
        ? (['vLLM', VllmProtocol] as const)
        : (['SGLang', SglangProtocol] as const);
    const limits = { timeout, retries, backoff };
    this.options = options;
    this.connection = new ServerConnection({ label, url: spec.url, token, ...limits });
    this.protocol = new Protocol(this.connection);
    this.publisher = new AdapterPublisher({ protocol: this.protocol, folder, about });
  }

  /** Requires a server that can generate as the config says. */
  async connect(signal: AbortSignal = new AbortController().signal): Promise<ServerFacts> {
    if (this.facts !== undefined) return this.facts;
    const { config, tokenizer } = this.options;
    const facts = await this.protocol.check(signal);
    const probe = [tokenizer.bosId ?? tokenizer.eosIds[0] ?? 0];
    const problem = await findLogprobProblem(this.protocol, { config, probe, signal });
    if (problem !== undefined) throw this.connection.failure('', problem);
    this.facts = facts;
    return facts;
  }

  /** Generates the responses to the prompts, in the order of prompts and samples. */
  async rollOut(
    { prompts, generation }: RolloutJob,
    { signal: outer, onText }: Pick<JobContext, 'signal' | 'onText'> = {},
  ): Promise<GeneratedText[]> {
    const { policy, tokenizer, concurrency = 64 } = this.options;
    const context = policy.base.architecture.config.max_position_embeddings;
    const sequences = createSequences(prompts, generation, { tokenizer, context });
    const { numReturnSequences: samples = 1 } = generation;
    const groups = prompts.map((_, i) => sequences.slice(i * samples, (i + 1) * samples));
    // If one request fails, the others are cancelled.
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, ...(outer ? [outer] : [])]);
    try {
      this.checkLengths(sequences, await this.connect(signal));
      await this.publish(signal);
      const complete = async (group: readonly Sequence[]) => {
        const completions = await this.complete(requestOf(group, generation), signal);
        return group.map((sequence, k) => {
          const text = this.read(sequence, completions[k]!);
          onText?.();
          return text;
        });
      };
      return (await mapConcurrently(groups, complete, { concurrency, signal })).flat();
    } catch (error) {
      failed.abort();
      outer?.throwIfAborted();
      throw error;
    }
  }

  /** Removes the adapter from the server, which may be gone already, and its folder. */
  async dispose(): Promise<void> {
    await this.publisher.dispose(AbortSignal.timeout(1000 * DISPOSE_TIMEOUT));
  }

  private publish(signal: AbortSignal): Promise<string> {
    const { adapter } = this.options.policy;
    if (adapter === undefined) throw new Error('Internal: rollouts by a server need an adapter');
    return this.publisher.publish(adapter, signal);
  }

  /** Requests responses; a server that was restarted receives the adapter again. */
  private async complete(
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[]> {
    for (let pushes = 0; pushes <= MAX_PUSHES; pushes++) {
      const adapter = this.publisher.name;
      const completions = await this.protocol.complete({ ...request, adapter }, signal);
      if (completions?.length === request.samples) return completions;
      if (completions !== undefined) {
        const counts = `${request.samples} responses per prompt, got ${completions.length}`;
        throw this.connection.failure('', `must generate ${counts}`);
      }
      await this.publisher.republish(adapter, signal);
    }
    throw this.connection.failure(
      '',
      `must keep the adapter that it loaded, lost it ${MAX_PUSHES} times; let no other client unload it`,
    );
  }

  private read(sequence: Sequence, completion: Completion): GeneratedText {
    const { vocab_size: vocabSize } = this.options.policy.base.architecture.config;
    const result = readCompletion(sequence, completion, { vocabSize });
    if (typeof result !== 'string') return result;
    throw this.connection.failure('', result);
  }

  private checkLengths(sequences: readonly Sequence[], { maxLength }: ServerFacts): void {
    if (maxLength === undefined) return;
    for (const { parts } of sequences) {
      const length = parts.promptTokens.length + parts.rules.maxTokens;
      if (length <= maxLength) continue;
      throw this.connection.failure(
        '',
        `must allow texts of ${length} tokens, the length of prompt ${parts.prompt} with its response, got a limit of ${maxLength}; restart it with a larger limit or lower maxNewTokens`,
      );
    }
  }
}

/** The request for all samples of a prompt. */
function requestOf(group: readonly Sequence[], generation: GenerationOptions): CompletionRequest {
  const [{ parts }] = group as [Sequence];
  const { temperature = 1, topK, topP = 1, minP = 0, seed = 0, streamKey = [] } = generation;
  return {
    promptTokens: parts.promptTokens,
    samples: group.length,
    // Servers count up from here: a sum of at most 2³¹ also fits a server with 32 bits.
    seed: randomStream(seed, 'rollout server', ...streamKey, parts.prompt).integer(2 ** 30),
    ...{ temperature, topK, topP, minP },
    maxTokens: parts.rules.maxTokens,
    stopStrings: parts.rules.stopStrings,
    stopTokenIds: [...parts.rules.stopTokens],
    topLogprobs: parts.topLogprobs,
  };
}

/** The same jobs, except that a server generates the responses. */
export function withServerRollouts(
  jobs: StepJobs,
  server: Pick<RolloutServer, 'rollOut'>,
): StepJobs {
  const { isRemote = false } = jobs;
  return {
    isRemote,
    ...(jobs.scoreTexts && { scoreTexts: (step: number) => jobs.scoreTexts!(step) }),
    rollOut: (job, context) => server.rollOut(job, context),
    policyLogprobs: (job, context) => jobs.policyLogprobs(job, context),
    refLogprobs: (job, context) => jobs.refLogprobs(job, context),
    values: (job, context) => jobs.values(job, context),
    gradients: (job, context) => jobs.gradients(job, context),
  };
}
