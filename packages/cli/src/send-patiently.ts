import type { Operation, OperationInputs, OperationOutputs, Transport } from "edgetable";

const ATTEMPTS = 5;

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends a request, and again if it is throttled or its connection breaks. */
export const sendPatiently = async <O extends Operation>(
  transport: Transport,
  operation: O,
  input: OperationInputs[O],
  signal: AbortSignal,
): Promise<OperationOutputs[O]> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await transport.send(operation, input, { signal });
    } catch (error) {
      if (attempt === ATTEMPTS || signal.aborted || (error as { readonly retryable?: boolean }).retryable !== true) throw error;
      await wait(25 * 2 ** attempt);
    }
};
