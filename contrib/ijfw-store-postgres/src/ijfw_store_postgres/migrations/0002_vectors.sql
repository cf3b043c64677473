-- needs: vector
-- Vectors beside words, where the extension pgvector is. They go with the block that they are of.

CREATE TABLE ijfw.vector (
    project text NOT NULL,
    owner name NOT NULL,
    tier text NOT NULL,
    path text NOT NULL,
    entry text NOT NULL,
    digest text NOT NULL,
    model text NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (project, owner, tier, path, entry),
    FOREIGN KEY (project, owner, tier, path, entry) REFERENCES ijfw.memory ON DELETE CASCADE
);
ALTER TABLE ijfw.vector ENABLE ROW LEVEL SECURITY;
CREATE POLICY project ON ijfw.vector USING (
    owner IN ('', current_user)
    AND ((project = '~' AND owner = current_user)
         OR (project = current_setting('ijfw.project', true)
             AND EXISTS (SELECT FROM ijfw.member m
                         WHERE m.project = vector.project AND m.role = current_user)))
);
