-- Tag sets and given scopes for which facts wait, without walking over all the facts that do: the
-- sets one after another on the index, each asked for a fact without scopes of its own.
WITH RECURSIVE waiting (id) AS (
    SELECT min(tag_set_id) FROM memory INDEXED BY m_todo
    WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
      AND consolidated_at IS NULL AND consolidation_failed_at IS NULL
    UNION ALL
    SELECT (SELECT min(tag_set_id) FROM memory INDEXED BY m_todo
            WHERE bank_id = ?1 AND tag_set_id > waiting.id AND state = 0 AND fact_type < 2
              AND consolidated_at IS NULL AND consolidation_failed_at IS NULL)
    FROM waiting WHERE waiting.id IS NOT NULL
)
SELECT waiting.id, NULL FROM waiting
WHERE waiting.id IS NOT NULL AND EXISTS (
    SELECT 1 FROM memory INDEXED BY m_todo
    WHERE bank_id = ?1 AND tag_set_id = waiting.id AND state = 0 AND fact_type < 2
      AND consolidated_at IS NULL AND consolidation_failed_at IS NULL AND scopes IS NULL)
UNION ALL
SELECT * FROM (
    SELECT DISTINCT tag_set_id, scopes FROM memory INDEXED BY m_todo_given
    WHERE bank_id = ?1 AND state = 0 AND fact_type < 2
      AND consolidated_at IS NULL AND consolidation_failed_at IS NULL AND scopes IS NOT NULL)
