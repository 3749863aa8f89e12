-- Facts that wait to be folded into scopes of their own: few, and asked for with every search for
-- observations.
CREATE INDEX m_todo_given ON memory (bank_id, tag_set_id)
    WHERE state = 0 AND fact_type < 2
      AND consolidated_at IS NULL AND consolidation_failed_at IS NULL
      AND scopes IS NOT NULL;
