// Errors. Each contains the message of the server.

/** Base of all errors of this package. */
export class SandboxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There is no program to start. */
export class BinaryNotFoundError extends SandboxError {}

/** The server ended before it could be used. The message has what it printed. */
export class ServerStartError extends SandboxError {}

/** The connection ended before the whole response had arrived, as a fault can demand. */
export class ConnectionCutError extends SandboxError {}

/** No signature of a webhook message is right. */
export class SignatureError extends SandboxError {}

/** A response that reports an error. */
export class ApiError extends SandboxError {
  /** Error code; null for a request with invalid parts. */
  readonly code: string | null;

  constructor(
    readonly method: string,
    readonly url: string,
    readonly status: number,
    readonly headers: Record<string, string>,
    /** The parsed body. */
    readonly body: unknown,
  ) {
    super(`${method} ${url}: ${status} ${describe(body)}`);
    const code = isObject(body) && isObject(body.error) ? body.error.code : null;
    this.code = typeof code === 'string' ? code : null;
  }
}

/** An expectation is not met. The message has the calls that come nearest. */
export class ExpectationError extends ApiError {}

/** Returns whether the body of an error says that an expectation is not met, and not that it is invalid. */
export function isUnmetExpectation(body: unknown): boolean {
  const problems = isObject(body) && Array.isArray(body.detail) ? body.detail : [];
  return problems.some(({ type }) => type === 'expectation_failed');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the messages in the body of an error. */
function describe(body: unknown): string {
  if (isObject(body) && isObject(body.error) && 'message' in body.error) {
    const { code, message, details } = body.error;
    const hasDetails = details !== null && details !== undefined && Object.keys(details).length > 0;
    return `${code}: ${message}${hasDetails ? ` ${JSON.stringify(details, null, 1)}` : ''}`;
  }
  if (isObject(body) && Array.isArray(body.detail)) {
    return body.detail.map(({ loc = [], msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  }
  return typeof body === 'string' ? body : JSON.stringify(body);
}
