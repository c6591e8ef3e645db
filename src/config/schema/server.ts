import * as v from 'valibot';
import { duration, integer, network, port, setting, required, word } from './values.js';

const drain = v.strictObject({
  grace: setting(
    'How long open requests may still run after SIGTERM. Give the deployment a longer grace period than this.',
    duration(),
    '60s',
  ),
  delay: setting(
    'How long to go on accepting after /readyz turned 503, so that load balancers notice first.',
    duration(),
    '0s',
  ),
});

const tls = v.strictObject({
  cert: required('PEM file with the certificate chain.', word(4096)),
  key: required('PEM file with the private key.', word(4096)),
});

export const server = v.strictObject({
  host: setting('Address to listen on. 0.0.0.0 opens the gateway to the network.', word(255), '127.0.0.1'),
  port: setting('Port to listen on; 0 picks a free one.', port, 8080),
  admin_port: setting(
    'Moves /healthz, /readyz, /metrics, /docs and /console to 0.0.0.0 on this port; null keeps them on the main one.',
    v.nullable(port),
    null,
  ),
  trusted_proxies: setting('Addresses or networks whose X-Forwarded-For is believed.', v.array(network), []),
  max_body_bytes: setting('Largest inference request body.', integer(1_024, 1_073_741_824), 33_554_432),
  max_response_bytes: setting(
    'Largest upstream answer that is read whole (streams are not bounded by it).',
    integer(1_024, 1_073_741_824),
    67_108_864,
  ),
  heartbeat: setting(
    'A quiet stream gets a comment line this often, so that proxies between keep it open; 0s sends none.',
    duration(),
    '15s',
  ),
  drain: setting('What happens on SIGTERM.', drain, {}),
  tls: setting('Serve https with these files; null serves http.', v.nullable(tls), null),
});
