import type { SinkErrorRecord, SinkRecord } from './layout.js';

/** A secret as it is shown; sent back, it stands for the one that is stored (D27). */
export const MASK = '***';

/** An export sink as the API shows it (seed 2.8). */
export interface Sink {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_success_at: string | null;
  readonly last_error_at: string | null;
  readonly last_error: string | null;
}

export interface DeletedSink {
  readonly id: string;
  readonly object: 'policy_gateway.export.deleted';
  readonly deleted: true;
}

/** How deliveries went. */
export interface SinkStatus {
  readonly succeededMs: number | null;
  readonly error: SinkErrorRecord | null;
}

export const showSink = (id: string, record: SinkRecord, status?: SinkStatus): Sink => {
  const { type, label, enabled, config, secrets, created_at, updated_at } = record;
  const masked = Object.fromEntries(Object.keys(secrets).map((field) => [field, MASK]));
  const succeededMs = status?.succeededMs ?? null;
  return {
    id,
    type,
    label,
    enabled,
    config: { ...config, ...masked },
    created_at,
    updated_at,
    last_success_at: succeededMs === null ? null : new Date(succeededMs).toISOString(),
    last_error_at: status?.error?.at ?? null,
    last_error: status?.error?.reason ?? null,
  };
};
