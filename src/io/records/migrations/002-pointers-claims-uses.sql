-- Digests of secrets and the records they lead to; names taken for a while; the latest use of a record.

CREATE TABLE pointers (
  digest     TEXT NOT NULL PRIMARY KEY,
  partition  TEXT NOT NULL,
  collection TEXT NOT NULL,
  id         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
  name       TEXT    NOT NULL PRIMARY KEY,
  owner      TEXT    NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_expiring ON claims (expires_at);

CREATE TABLE uses (
  partition TEXT    NOT NULL,
  id        TEXT    NOT NULL,
  used_at   INTEGER NOT NULL,
  PRIMARY KEY (partition, id)
) STRICT, WITHOUT ROWID;
