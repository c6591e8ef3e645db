import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { configFrom } from '../support/configuration.js';
import { readRepositoryFile } from '../support/repository.js';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly restartPolicy?: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly startupProbe: Probe;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
  readonly resources: unknown;
  readonly securityContext: unknown;
}

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: unknown;
  readonly volumes: readonly { readonly name: string }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly selector: { readonly matchLabels: unknown };
    readonly template: {
      readonly metadata: { readonly labels: unknown; readonly annotations: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}

function readManifest(file: string): Resource[] {
  return parseAllDocuments(readRepositoryFile(`deploy/kubernetes/${file}`)).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return document.toJS() as Resource;
  });
}

function partsOf(resources: readonly Resource[]) {
  const deployment = resources.find(({ kind }) => kind === 'Deployment')!;
  const pod = deployment.spec.template.spec;
  const gateway = [...(pod.initContainers ?? []), ...pod.containers].find(({ name }) => name === 'sluice')!;
  const text = resources.find(({ kind }) => kind === 'ConfigMap')!.data!['gateway.yaml']!;
  return { deployment, pod, gateway, text };
}

const referencesIn = (text: string): string[] =>
  [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);

/** A value for every variable a text refers to, as the Secret would give it. */
const environmentFor = (text: string): Record<string, string> =>
  Object.fromEntries(
    referencesIn(text).map((name) => [
      name,
      name === 'REDIS_URL' ? 'redis://redis:6379/0' : name.padEnd(44, 'x'),
    ]),
  );

for (const file of ['sidecar.yaml', 'standalone.yaml']) {
  t.test(file, async (t) => {
    const resources = readManifest(file);
    const { deployment, pod, gateway, text } = partsOf(resources);
    const config = await configFrom(text, { file, env: environmentFor(text) });

    t.ok(resources.every(({ apiVersion, kind, metadata }) => apiVersion && kind && metadata.name));
    t.same(deployment.spec.selector.matchLabels, deployment.spec.template.metadata.labels);

    const given = gateway.env.filter(({ valueFrom }) => valueFrom !== undefined).map(({ name }) => name);
    t.same(
      new Set(referencesIn(text)),
      new Set(given),
      'what its configuration refers to comes from the Secret',
    );

    const port = gateway.ports.find(({ name }) => name === 'sluice-admin')!.containerPort;
    t.equal(config.server.admin_port, port);
    t.same(gateway.readinessProbe.httpGet, { path: '/readyz', port: 'sluice-admin' });
    t.same(gateway.startupProbe.httpGet, { path: '/readyz', port: 'sluice-admin' });
    t.same(gateway.livenessProbe.httpGet, { path: '/healthz', port: 'sluice-admin' });
    t.match(deployment.spec.template.metadata.annotations, {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(port),
      'prometheus.io/path': config.telemetry.metrics.path,
    });

    const { delay, grace } = config.server.drain;
    t.ok(
      pod.terminationGracePeriodSeconds * 1_000 >= delay + grace + 5_000,
      'D50 the pod waits for the drain',
    );

    t.match(pod.securityContext, {
      runAsNonRoot: true,
      runAsUser: Number,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    t.match(gateway.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    t.match(gateway.resources, { requests: { cpu: String, memory: String }, limits: { memory: String } });

    const volumes = pod.volumes.map(({ name }) => name);
    t.ok(gateway.volumeMounts.every(({ name }) => volumes.includes(name)));
    t.ok(
      gateway.volumeMounts.every(({ subPath }) => subPath === undefined),
      'a changed ConfigMap reaches the gateway',
    );
    t.ok(gateway.volumeMounts.some(({ mountPath }) => mountPath === '/var/lib/sluice'));
    t.match(config.audit.spool.path, /^\/var\/lib\/sluice\//);

    const keys = config.bootstrap.organizations.flatMap(({ projects }) =>
      projects.flatMap((project) => project.keys),
    );
    t.ok(keys.length > 0);
    for (const { permissions } of keys)
      t.same(permissions, ['inference'], "D4 an application's key may do inference only");
  });
}

t.test(
  'the sidecar is reached by its own pod alone, starts before the application and ends after it',
  async (t) => {
    const { gateway, pod, text } = partsOf(readManifest('sidecar.yaml'));
    t.equal(gateway.restartPolicy, 'Always');
    t.ok(pod.initContainers?.includes(gateway));
    const { host, port } = (await configFrom(text, { env: environmentFor(text) })).server;
    t.equal(host, '127.0.0.1');
    const env = Object.fromEntries(pod.containers[0]!.env.map(({ name, value }) => [name, value]));
    t.equal(env['ANTHROPIC_BASE_URL'], `http://127.0.0.1:${port}`);
    t.equal(env['OPENAI_BASE_URL'], `http://127.0.0.1:${port}/v1`);
    t.notOk('ANTHROPIC_API_KEY' in env, "the application never holds a provider's key");
  },
);

t.test(
  'the standalone gateway shares its store, and has a Service, a disruption budget and an autoscaler',
  async (t) => {
    const resources = readManifest('standalone.yaml');
    t.same(
      resources.map(({ kind }) => kind),
      ['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget', 'HorizontalPodAutoscaler'],
    );
    t.match(partsOf(resources).text, /kind: redis/);
  },
);
