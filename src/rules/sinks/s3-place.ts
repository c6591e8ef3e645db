import { isIP } from 'node:net';
import type { S3Config } from './configs.js';

/** Where the objects of a bucket lie: the address, and what stands before each key. */
export interface S3Place {
  readonly address: string;
  readonly path: string;
}

/**
 * Other stores than Amazon's seldom have a name per bucket, so with an endpoint of its own the bucket goes into the path
 * unless told otherwise. So does one with a dot in its name: no certificate covers it.
 */
export const s3Place = (config: S3Config): S3Place => {
  const { bucket, region, endpoint } = config;
  const address =
    endpoint ?? `https://s3.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`;
  const inPath = config.force_path_style ?? (endpoint !== undefined || bucket.includes('.'));
  const [scheme = '', rest = ''] = address.split('://');
  const host = rest.split(/[/:]/, 1)[0]!;
  if (inPath || host.startsWith('[') || isIP(host) !== 0) return { address, path: `/${bucket}` };
  return { address: `${scheme}://${bucket}.${rest}`, path: '' };
};
