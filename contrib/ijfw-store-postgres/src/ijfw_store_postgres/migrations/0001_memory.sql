-- Blocks of memory, who may see them, and every change that was ever made. Run by the owner, who is
-- nobody that agents connect as: the owner of a table is not held by its policies.

CREATE SCHEMA IF NOT EXISTS ijfw;

CREATE TABLE ijfw.member (
    project text NOT NULL CHECK (project <> '' AND project <> '~'),
    role name NOT NULL,
    PRIMARY KEY (project, role)
);

-- owner '' is everybody of the project; project '~' is a person's memory for all projects.
CREATE TABLE ijfw.memory (
    project text NOT NULL,
    owner name NOT NULL,
    tier text NOT NULL,
    path text NOT NULL,
    entry text NOT NULL,
    raw text NOT NULL,
    digest text NOT NULL,
    kind text NOT NULL,
    stored timestamptz NOT NULL,
    words tsvector NOT NULL,
    place bigint NOT NULL,
    archived boolean GENERATED ALWAYS AS (starts_with(path, '_archive/')) STORED,
    PRIMARY KEY (project, owner, tier, path, entry)
);
CREATE SEQUENCE ijfw.place;
CREATE UNIQUE INDEX memory_live ON ijfw.memory (project, owner, tier, entry) WHERE NOT archived;
CREATE INDEX memory_entry ON ijfw.memory (entry);
CREATE INDEX memory_words ON ijfw.memory USING gin (words) WHERE NOT archived;

CREATE TABLE ijfw.history (
    project text NOT NULL,
    owner name NOT NULL,
    handle text NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    role name NOT NULL DEFAULT current_user,
    op text NOT NULL,
    plugin text NOT NULL,
    reason text NOT NULL,
    entries text[] NOT NULL,
    request text NOT NULL,
    edits jsonb NOT NULL,
    undoes text NOT NULL DEFAULT '',
    PRIMARY KEY (project, handle)
);
CREATE UNIQUE INDEX history_undoes ON ijfw.history (project, undoes) WHERE undoes <> '';
CREATE INDEX history_xid ON ijfw.history (xid);
CREATE INDEX history_entries ON ijfw.history USING gin (entries);

ALTER TABLE ijfw.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE ijfw.memory ENABLE ROW LEVEL SECURITY;
ALTER TABLE ijfw.history ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON ijfw.member FOR SELECT USING (role = current_user);

-- The setting chooses among the projects of a role; it gives none that the role is no member of.
CREATE POLICY project ON ijfw.memory USING (
    owner IN ('', current_user)
    AND ((project = '~' AND owner = current_user)
         OR (project = current_setting('ijfw.project', true)
             AND EXISTS (SELECT FROM ijfw.member m
                         WHERE m.project = memory.project AND m.role = current_user)))
);
CREATE POLICY read ON ijfw.history FOR SELECT USING (
    owner = current_user
    OR (owner = '' AND project = current_setting('ijfw.project', true)
        AND EXISTS (SELECT FROM ijfw.member m
                    WHERE m.project = history.project AND m.role = current_user))
);
CREATE POLICY append ON ijfw.history FOR INSERT WITH CHECK (
    owner IN ('', current_user) AND role = current_user
    AND project = current_setting('ijfw.project', true)
    AND EXISTS (SELECT FROM ijfw.member m
                WHERE m.project = history.project AND m.role = current_user)
);

-- The one deletion there is, asked for by a person: texts leave the history, its lines stay.
CREATE FUNCTION ijfw.forget_history(names text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    done bigint;
BEGIN
    UPDATE ijfw.history h SET edits = '[]', reason = '', request = ''
    WHERE h.entries && names
      AND (h.owner = session_user
           OR (h.owner = '' AND h.project = current_setting('ijfw.project', true)
               AND EXISTS (SELECT FROM ijfw.member m
                           WHERE m.project = h.project AND m.role = session_user)));
    GET DIAGNOSTICS done = ROW_COUNT;
    RETURN done;
END $$;
REVOKE ALL ON FUNCTION ijfw.forget_history(text[]) FROM PUBLIC;
