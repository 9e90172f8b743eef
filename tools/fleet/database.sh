#!/bin/sh
# Makes the cluster in an empty volume, brings its two roles up to date with their passwords, and becomes the server.
# `unwind` owns the database and belongs to the websites; `unwind_grader` gets its few rights from the service `migrate`.
set -eu
bin=/usr/lib/postgresql/15/bin
data=/var/lib/postgresql/unwind/15
: "${UNWIND_DATABASE_PASSWORD:?}" "${UNWIND_GRADER_PASSWORD:?}"

if [ ! -s "$data/PG_VERSION" ]; then
  "$bin/initdb" -D "$data" --encoding=UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=scram-sha-256 --data-checksums
  echo 'host all all all scram-sha-256' >> "$data/pg_hba.conf"
fi

# Without an address it listens on its socket only, so nobody connects before the roles are right. After a crash it
# first replays its log. That can take minutes, and a start that gives up after pg_ctl's 60 s would begin it anew.
"$bin/pg_ctl" -D "$data" -w -t 3600 -o "-c listen_addresses='' -c unix_socket_directories=/tmp" start
psql() { command psql -h /tmp -v ON_ERROR_STOP=1 --quiet --no-psqlrc "$@"; }
psql -d postgres <<'SQL'
SELECT 'CREATE ROLE unwind LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'unwind') \gexec
SELECT 'CREATE ROLE unwind_grader LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'unwind_grader') \gexec
\getenv site UNWIND_DATABASE_PASSWORD
\getenv grader UNWIND_GRADER_PASSWORD
ALTER ROLE unwind PASSWORD :'site';
ALTER ROLE unwind_grader PASSWORD :'grader';
SELECT 'CREATE DATABASE unwind OWNER unwind' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'unwind') \gexec
SQL
"$bin/pg_ctl" -D "$data" -w -m fast stop

exec "$bin/postgres" -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp \
  -c max_connections="${UNWIND_DATABASE_CONNECTIONS:-200}" -c shared_buffers=128MB
