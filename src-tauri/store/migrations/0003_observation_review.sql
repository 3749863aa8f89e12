-- An observation that lost a source but still rests on others stays visible, marked, until the next
-- consolidation has rewritten it from what is left.
ALTER TABLE memory ADD COLUMN needs_review INTEGER NOT NULL DEFAULT 0
    CHECK (needs_review IN (0, 1));
CREATE INDEX m_review ON memory (bank_id) WHERE needs_review = 1;
