FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY console console
COPY scripts/build-console.js scripts/
RUN node scripts/build-console.js

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image's own Node 24 runs the service: the one that the `node` package would fetch for older hosts is not needed.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force && mkdir /data && chown node /data
COPY . .
COPY --from=console /app/console/dist console/dist
USER node
EXPOSE 4005
# A worker has no API; both have the management listener.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.MANAGEMENT_PORT ?? 4006) + '/ready').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/cloudops.js"]
CMD ["serve"]
