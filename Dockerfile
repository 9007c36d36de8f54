# The program alone, without a shell, as a user without rights:
#
#   docker build -t tidemark .
#   docker run --rm tidemark backtest --no-files
#   docker run -v tidemark:/state -v ./live.toml:/config.toml:ro --env-file keys tidemark run -c /config.toml
#
# compose.yaml runs an exchange and a bot on it.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /out/ ./cmd/bot ./cmd/bot-farm && /out/bot version --licences > /out/LICENCES.txt \
    && mkdir /out/state && chown 65532:65532 /out/state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/bot /out/bot-farm /
COPY --from=build /out/LICENCES.txt /
COPY --from=build --chown=65532:65532 /out/state /state
USER 65532:65532
WORKDIR /state
VOLUME /state
HEALTHCHECK --interval=30s --timeout=10s --start-period=15m CMD ["/bot", "status", "--state", "/state/state", "--check"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/bot"]
CMD ["--help"]
