# coxswain with the driver of PostgreSQL, for a team that keeps its runs there. The viewer answers this machine alone, so it shares its network:
#   docker build -t coxswain .
#   docker run --rm --network host coxswain view postgres://USER@HOST/DATABASE --no-open
#   docker run --rm coxswain report postgres://USER@HOST/DATABASE
FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npm pack --ignore-scripts --pack-destination /tmp
FROM node:24-slim
WORKDIR /app
COPY --from=build /tmp/coxswain-*.tgz ./
RUN npm install --omit=dev --ignore-scripts ./coxswain-*.tgz pg@8 && rm coxswain-*.tgz && npm cache clean --force
USER node
ENV NODE_ENV=production
# Without npx, signals reach the program itself.
ENTRYPOINT ["node", "/app/node_modules/coxswain/dist/cli/bin.js"]
CMD ["--help"]
