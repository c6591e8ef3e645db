-- Documents in partitions and collections, and a counter that grows with every commit in a partition.

CREATE TABLE records (
  partition  TEXT    NOT NULL,
  collection TEXT    NOT NULL,
  id         TEXT    NOT NULL,
  revision   INTEGER NOT NULL,
  value      TEXT    NOT NULL, -- JSON
  expires_at INTEGER,          -- milliseconds since 1970
  PRIMARY KEY (partition, collection, id)
) STRICT;

-- Records with an expiry are not listed, so the index of the lists leaves them out.
CREATE INDEX records_listed ON records (partition, collection, id) WHERE expires_at IS NULL;
CREATE INDEX records_expiring ON records (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE generations (
  partition  TEXT    NOT NULL PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
