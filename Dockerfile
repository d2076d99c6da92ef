# Runs as uid 1000 on a read-only root; writes below /data only. `npm run image` builds it and shows that.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Sluice" org.opencontainers.image.licenses="MIT"
# Memory of decoded pictures goes back to the system: with glibc's defaults much of it stays in arenas of dead threads.
ENV NODE_ENV=production DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
RUN mkdir /data && chown 1000:1000 /data
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY src src
COPY flows flows
# A number: Kubernetes cannot tell of a name whether it is root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "src/cli/health.ts"]
CMD ["node", "src/main.ts"]
