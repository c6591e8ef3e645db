-- The last day, counted from 1970, on which the chain was told how far it has come.

ALTER TABLE chains ADD COLUMN anchored_day INTEGER NOT NULL DEFAULT 0;
