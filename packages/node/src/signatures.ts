// Signatures of webhook messages, as Standard Webhooks prescribes them.

import { createHmac, timingSafeEqual } from 'node:crypto';

import { SignatureError } from './errors.js';

const SECRET_PREFIX = /^whsec_/;

/**
 * Returns the parsed body of a message, or throws a `SignatureError` if no signature is right.
 *
 * `secret` is that of the webhook, which begins with `whsec_`; a text that cannot be one is a `TypeError`. The
 * age of the message is not checked, since the time of a world is not that of the machine.
 */
export function verifyWebhook(
  secret: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): any {
  const key = readSecret(secret);
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = given.get(name);
    if (value === undefined) throw new SignatureError(`The message has no header ${name}.`);
    return value;
  });
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  const signatures = (signature ?? '').split(' ').map((one) => Buffer.from(one));
  if (!signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected))) {
    const count = signatures.length;
    throw new SignatureError(`None of the ${count} signatures of the message was made with this secret.`);
  }
  return JSON.parse(Buffer.from(body).toString());
}

function readSecret(secret: string): Buffer {
  const encoded = secret.replace(SECRET_PREFIX, '');
  const key = Buffer.from(encoded, 'base64');
  // What is not Base64 is ignored by the decoder.
  if (key.length === 0 || key.toString('base64') !== encoded) {
    throw new TypeError('The secret must be whsec_ and text in Base64, as the webhook has it.');
  }
  return key;
}
