# The worker and all commands, models included; docs/container.md.
# Build with docker, podman or buildah (those two with `--format docker`, for the health check).
ARG DEBIAN=bookworm-slim

FROM debian:${DEBIAN} AS dependencies
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3-venv \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN python3 -m venv /opt/build && python3 -m venv --without-pip /opt/truthgate
COPY requirements/build.txt requirements/runtime.txt /source/requirements/
# Byte code that is not compared with its source: a copy may change the times, and nobody can write there.
RUN /opt/build/bin/pip install --no-cache-dir --only-binary :all: --require-hashes \
        --requirement /source/requirements/build.txt \
    && /opt/build/bin/pip --python /opt/truthgate/bin/python install --no-cache-dir --no-compile \
        --only-binary :all: --require-hashes --requirement /source/requirements/runtime.txt \
    && python3 -m compileall -q --invalidation-mode unchecked-hash /opt/truthgate/lib

# A folder of its own, so that a new version is a small layer above dependencies that stay.
FROM dependencies AS own
COPY LICENSE README.md pyproject.toml /source/
COPY schemas /source/schemas
COPY scoring /source/scoring
COPY streams /source/streams
RUN /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --no-index \
        --wheel-dir /wheels /source \
    && /opt/build/bin/pip --python /opt/truthgate/bin/python install --no-cache-dir --no-compile --no-deps \
        --no-index --prefix /own /wheels/*.whl \
    && python3 -m compileall -q --invalidation-mode unchecked-hash /own/lib

FROM debian:${DEBIAN}
# tini: Python as process 1 would not hear SIGTERM before its handler is there, nor reap others' orphans.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 tini \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
    && groupadd --gid 65532 truthgate \
    && useradd --uid 65532 --gid 65532 --key UID_MAX=65532 --no-create-home \
        --home-dir /var/lib/truthgate --shell /usr/sbin/nologin truthgate \
    && install --directory --owner 65532 --group 0 --mode 0770 /var/lib/truthgate
COPY --from=dependencies /opt/truthgate /opt/truthgate
COPY --from=own /own /opt/truthgate
# The user's caches, which all state is by default, are below the first; so settings can still move each.
ENV XDG_CACHE_HOME=/var/lib \
    HOME=/var/lib/truthgate \
    PATH=/opt/truthgate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
WORKDIR /var/lib/truthgate
VOLUME /var/lib/truthgate
EXPOSE 6066
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["truthgate", "health"]
ENTRYPOINT ["tini", "--", "truthgate"]
CMD ["worker"]
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="truthgate" \
    org.opencontainers.image.description="A streaming gate between a support chatbot and its customers" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
