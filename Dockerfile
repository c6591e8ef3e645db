# syntax=docker/dockerfile:1
#   docker build -t sluice-gateway:0.1.0 .
#   docker run --read-only -p 127.0.0.1:8080:8080 -v sluice:/var/lib/sluice sluice-gateway:0.1.0
# A Node LTS line that the tests run on; builds that must be repeatable name it by digest.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    SLUICE_CONFIG=/etc/sluice/gateway.yaml
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist/src ./dist/src
COPY package.json LICENSE gateway.example.yaml ./
COPY config ./config
COPY docs/openapi.json ./docs/openapi.json
COPY deploy/docker/gateway.yaml /etc/sluice/gateway.yaml
# The one place that is written to: the embedded store, the generated pepper and keys.
RUN install -d -o 1000 -g 1000 -m 0700 /var/lib/sluice
VOLUME /var/lib/sluice
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "dist/src/main.js", "healthcheck"]
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["serve"]
