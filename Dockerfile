# Builds two images: `site` (no torch) and `grader` (torch, no website). See docs/operating.md.
FROM debian:bookworm-slim AS base
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 unwind \
 && useradd --system --uid 10001 --gid unwind --create-home --home-dir /srv/home unwind \
 && install -d -o unwind -g unwind /srv/unwind /data /data/courses
WORKDIR /srv/unwind
COPY tools tools
COPY requirements.lock requirements-fleet.lock ./
# LOCK=requirements-fleet.lock adds what PostgreSQL needs (docker-compose.fleet.yml).

FROM base AS site-environment
ARG LOCK=requirements.lock
RUN TORCH=none tools/make_environment "$LOCK"

FROM base AS grader-environment
ARG TORCH=cpu
ARG LOCK=requirements.lock
RUN TORCH=$TORCH tools/make_environment "$LOCK"

FROM base AS site
COPY --from=site-environment /srv/unwind/.venv .venv
COPY LICENSE course.toml glossary.md debugging.toml torch-releases.json ./
COPY chapters chapters
COPY gallery gallery
COPY drills drills
COPY exercises exercises
COPY static/dist static/dist
COPY static/fonts static/fonts
COPY graders/__init__.py graders/__init__.py
COPY graders/contract graders/contract
COPY graders/ledger graders/ledger
COPY app app
USER unwind
ENV UNWIND_DATA=/data UNWIND_HOST=0.0.0.0 UNWIND_PORT=8000 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8000
CMD [".venv/bin/python", "-m", "app", "site"]

FROM base AS grader
COPY --from=grader-environment /srv/unwind/.venv .venv
COPY exercises exercises
COPY graders graders
USER unwind
ENV UNWIND_DATA=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
CMD [".venv/bin/python", "-m", "graders", "worker", "--queue", "cpu"]

# Serves nothing: tools/prove_containers uses it to attack the box inside a container.
FROM grader AS grader-tests
USER root
COPY requirements-dev.lock ./
RUN TORCH=cpu tools/make_environment requirements-dev.lock
COPY pyproject.toml docker-compose.yml docker-compose.memory.yml ./
COPY bench bench
COPY tests tests
USER unwind
CMD [".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/graders/box", "tests/graders/exercises"]
