-- The audit trail of one instance: events in one order, a hash chain per organization, and how far each sink has come.

CREATE TABLE instance (
  only        INTEGER PRIMARY KEY CHECK (only = 1),
  instance_id TEXT NOT NULL,
  replaces    TEXT -- the file that was damaged and set aside, if this one stands in for it
) STRICT;

CREATE TABLE chains (
  chain           INTEGER PRIMARY KEY,
  organization_id TEXT    NOT NULL UNIQUE,
  head            TEXT    NOT NULL, -- hash of the latest event
  last_seq        INTEGER NOT NULL,
  events          INTEGER NOT NULL, -- ever written
  bytes           INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
  seq         INTEGER PRIMARY KEY,
  chain       INTEGER NOT NULL,
  event_id    TEXT    NOT NULL,
  recorded_ms INTEGER NOT NULL, -- when it came here, milliseconds since 1970
  checksum    INTEGER NOT NULL, -- CRC-32 of the JSON
  json        TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_id ON events (event_id);
CREATE INDEX events_by_chain ON events (chain, seq);

CREATE TABLE sinks (
  sink_id     TEXT    NOT NULL PRIMARY KEY,
  chain       INTEGER NOT NULL,
  cursor      INTEGER NOT NULL, -- every event of the chain up to here is done
  events      INTEGER NOT NULL, -- of the chain that are done
  bytes       INTEGER NOT NULL,
  pending     TEXT,             -- JSON: what is left of the batch under way
  disabled_ms INTEGER           -- since when it is switched off
) STRICT, WITHOUT ROWID;
