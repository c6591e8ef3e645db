import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** Which secret of which sink: a sealed one opens nowhere else. */
export interface SecretPlace {
  readonly organizationId: string;
  readonly sinkId: string;
  readonly field: string;
}

/** Secrets at rest. */
export interface Vault {
  seal(secret: string, place: SecretPlace): string;
  /** null = it was sealed under another pepper or for another place, or was tampered with. */
  open(sealed: string, place: SecretPlace): string | null;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const boundTo = ({ organizationId, sinkId, field }: SecretPlace): Buffer =>
  Buffer.from(`${organizationId}|${sinkId}|${field}`);

/** AES-256-GCM under a key derived from the pepper. A sealed text is `1.KEY_ID.NONCE.CONTENT_AND_TAG`. */
export const createVault = (pepper: Buffer): Vault => {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'sluice sink secrets 1', KEY_BYTES));
  const keyId = createHash('sha256').update('key id\n').update(key).digest('hex').slice(0, 8);
  return {
    seal: (secret, place) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(place));
      const content = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return ['1', keyId, nonce.toString('base64url'), content.toString('base64url')].join('.');
    },
    open: (sealed, place) => {
      const [version, id, nonce = '', text = ''] = sealed.split('.');
      const content = Buffer.from(text, 'base64url');
      if (version !== '1' || id !== keyId || content.length < TAG_BYTES) return null;
      try {
        const decipher = createDecipheriv(CIPHER, key, Buffer.from(nonce, 'base64url'), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(boundTo(place)).setAuthTag(content.subarray(-TAG_BYTES));
        return decipher.update(content.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return null;
      }
    },
  };
};
