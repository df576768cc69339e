package store

// steps brought the database from nothing to its present form. Each is released SQL and
// never changes: whoever needs another column or table adds a step at the end. A step is
// done once, in the transaction of the upgrade, and fills what it adds.
var steps = []string{
	// 1. The tables, which a database from before steps were counted has already.
	`
CREATE TABLE IF NOT EXISTS dataset (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	owner    TEXT NOT NULL,
	doi      TEXT NOT NULL UNIQUE,
	claimed  INTEGER NOT NULL DEFAULT 0,
	revision INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS version (
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	dataset   INTEGER NOT NULL REFERENCES dataset,
	number    INTEGER NOT NULL,
	doi       TEXT NOT NULL UNIQUE,
	claimed   INTEGER NOT NULL DEFAULT 0,
	state     TEXT NOT NULL DEFAULT 'draft',
	shown     TEXT NOT NULL DEFAULT '',
	published TEXT NOT NULL DEFAULT '',
	withdrawn TEXT NOT NULL DEFAULT '',
	reason    TEXT NOT NULL DEFAULT '',
	about     TEXT NOT NULL, -- JSON
	words     TEXT NOT NULL, -- for searching, in lower case
	files     TEXT NOT NULL DEFAULT '[]', -- JSON
	UNIQUE (dataset, number)
);
CREATE INDEX IF NOT EXISTS owners ON dataset (owner);
-- A row for each dataset whose DOIs are not known to be as the dataset is.
CREATE TABLE IF NOT EXISTS outbox (
	dataset INTEGER PRIMARY KEY REFERENCES dataset,
	due     INTEGER NOT NULL, -- milliseconds since 1970
	tries   INTEGER NOT NULL DEFAULT 0,
	problem TEXT NOT NULL DEFAULT ''
);
-- What was looked at and downloaded, until its month is reported.
CREATE TABLE IF NOT EXISTS access (
	version INTEGER NOT NULL REFERENCES version,
	at      INTEGER NOT NULL, -- seconds since 1970
	event   TEXT NOT NULL     -- JSON, without the DOI, which may still change
);
CREATE INDEX IF NOT EXISTS accesses ON access (at);
-- What was counted, by month.
CREATE TABLE IF NOT EXISTS used (
	doi       TEXT NOT NULL,
	month     TEXT NOT NULL, -- such as 2026-10
	views     INTEGER NOT NULL,
	downloads INTEGER NOT NULL,
	PRIMARY KEY (doi, month)
);
-- What the service shows of it.
CREATE TABLE IF NOT EXISTS displayed (doi TEXT PRIMARY KEY, views INTEGER NOT NULL, downloads INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS report (
	month    TEXT PRIMARY KEY,
	id       TEXT NOT NULL,
	datasets INTEGER NOT NULL,
	complete INTEGER NOT NULL -- sent when the month was over
);
-- What the last check of the service's records found.
CREATE TABLE IF NOT EXISTS finding (at INTEGER NOT NULL, text TEXT NOT NULL);
`,
	// Months whose reports may be replaced by less, since an administrator says so; and how
	// many accesses were not stored.
	`
CREATE TABLE reopened (month TEXT PRIMARY KEY);
CREATE TABLE missed (month TEXT PRIMARY KEY, accesses INTEGER NOT NULL);
`,
	// The index for searching: a row for each dataset that has a published version.
	`
ALTER TABLE version DROP COLUMN words;
CREATE VIRTUAL TABLE search USING fts5 ( -- rowid is the dataset; all texts are folded
	title, names, text,
	spelled, -- the text with letters spelled out, if that differs
	content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
CREATE TABLE found (
	dataset   INTEGER PRIMARY KEY REFERENCES dataset,
	published TEXT NOT NULL,
	title     TEXT NOT NULL -- folded
);
CREATE TABLE facet (
	kind    TEXT NOT NULL,
	value   TEXT NOT NULL,
	dataset INTEGER NOT NULL REFERENCES found ON DELETE CASCADE,
	PRIMARY KEY (kind, value, dataset)
) WITHOUT ROWID;
CREATE INDEX facets ON facet (dataset);
CREATE TABLE indexed (id INTEGER PRIMARY KEY, form INTEGER NOT NULL); -- one row: the form of the index
`,
	// Which versions have a file, so that nobody has to look into all of them; and the order
	// of the list that is read most often.
	`
CREATE INDEX newest ON found (published, dataset);
CREATE TABLE file (
	sha256  TEXT NOT NULL,
	version INTEGER NOT NULL REFERENCES version ON DELETE CASCADE,
	PRIMARY KEY (sha256, version)
) WITHOUT ROWID;
CREATE INDEX files ON file (version);
INSERT OR IGNORE INTO file SELECT value ->> 'SHA256', version.id FROM version, json_each(CAST(version.files AS TEXT));
CREATE TRIGGER files_inserted AFTER INSERT ON version BEGIN
	INSERT OR IGNORE INTO file SELECT value ->> 'SHA256', new.id FROM json_each(CAST(new.files AS TEXT));
END;
CREATE TRIGGER files_changed AFTER UPDATE OF files ON version BEGIN
	DELETE FROM file WHERE version = new.id;
	INSERT OR IGNORE INTO file SELECT value ->> 'SHA256', new.id FROM json_each(CAST(new.files AS TEXT));
END;
`,
	// When everybody last saw a change of a dataset, for the sitemap.
	`ALTER TABLE dataset ADD COLUMN changed TEXT NOT NULL DEFAULT ''`,
	// Addresses with the suffix of the DOI in place of numbers, which only these versions
	// keep. The outbox corrects the URLs of all DOIs, and reserves those of drafts. A draft
	// may have a secret address for reviewers.
	`
ALTER TABLE version ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE version ADD COLUMN numbered INTEGER NOT NULL DEFAULT 0;
UPDATE version SET numbered = 1;
CREATE UNIQUE INDEX concepts ON dataset (substr(doi, instr(doi, '/') + 1));
CREATE UNIQUE INDEX suffixes ON version (substr(doi, instr(doi, '/') + 1));
INSERT OR IGNORE INTO outbox (dataset, due) SELECT id, 0 FROM dataset;
ALTER TABLE version ADD COLUMN review TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX reviews ON version (review) WHERE review <> '';
ALTER TABLE finding ADD COLUMN doi TEXT NOT NULL DEFAULT '';
DROP TABLE reopened;
DROP TABLE facet;
ALTER TABLE found DROP COLUMN title;
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (title, names, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
`,
	// The form that a dataset came from, so that a form that is sent twice makes one dataset.
	`
ALTER TABLE dataset ADD COLUMN form TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX forms ON dataset (owner, form) WHERE form <> '';
`,
	// Persons have several affiliations, each with its ROR.
	affiliations("Creators") + affiliations("Contributors"),
}

// affiliations is the step for one list of people.
func affiliations(list string) string {
	return `
UPDATE version SET about = json_set(CAST(about AS TEXT), '$.` + list + `', json((
	SELECT json_group_array(json(CASE WHEN value ->> 'Organisation' OR value ->> 'Affiliation' = '' AND value ->> 'ROR' = '' THEN value ELSE json_set(value,
		'$.ROR', '', '$.Affiliations', json_array(json_object('Name', value ->> 'Affiliation', 'ROR', value ->> 'ROR'))) END))
	FROM json_each(CAST(about AS TEXT), '$.` + list + `'))))
WHERE json_type(CAST(about AS TEXT), '$.` + list + `') = 'array';`
}
