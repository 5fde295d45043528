import type { PPOConfig } from '../config/ppo-config.ts';
import type { ServerProtocol } from './server-protocol.ts';

interface ProbeOptions {
  readonly config: Pick<PPOConfig, 'temperature' | 'topK' | 'topP' | 'minP'>;
  /** Tokens of a prompt. */
  readonly probe: readonly number[];
  readonly signal: AbortSignal;
}

/** A temperature at which almost only the most probable token is sampled. */
const COLD = 0.01;

/**
 * Describes what is wrong with a server's logprobs, if anything. They must be of the distribution that
 * tokens are sampled from. Without temperature and filters that is the model's own. Otherwise it compares
 * the highest logprob at two temperatures: a low temperature raises it to about 0, unless the server
 * ignores the temperature.
 */
export async function findLogprobProblem(
  protocol: Pick<ServerProtocol, 'complete' | 'logprobsRemedy'>,
  { config, probe, signal }: ProbeOptions,
): Promise<string | undefined> {
  const { temperature, topK, topP, minP } = config;
  if (temperature === 1 && topK === undefined && topP === 1 && minP === 0) return undefined;
  const highestAt = async (probeTemperature: number) => {
    const completions = await protocol.complete(
      {
        ...{ promptTokens: probe, samples: 1, seed: 0, maxTokens: 1, topLogprobs: 1 },
        ...{ temperature: probeTemperature, topK: undefined, topP: 1, minP: 0 },
        ...{ stopStrings: [], stopTokenIds: [] },
      },
      signal,
    );
    return completions?.[0]?.alternatives?.[0]?.logprobs[0] ?? Number.NaN;
  };
  const [warm, cold] = [await highestAt(1), await highestAt(COLD)];
  const isValid = warm < 1e-3 && cold < 1e-3;
  // A distribution that is certain at temperature 1 shows nothing.
  const isTempered = warm > -0.05 || cold > warm + 1e-3;
  if (isValid && isTempered) return undefined;
  const got = `a highest logprob of ${warm.toFixed(3)} at temperature 1 and ${cold.toFixed(3)} at ${COLD}`;
  return `must report logprobs of the distribution that it samples from, got ${got}; ${protocol.logprobsRemedy}`;
}
