-- Sizes in tokens beside the text they belong to, since counting them costs more than reading it.

-- Of a memory's text, for the budget of a search. Null where the text was written before this step;
-- then it is counted when read.
ALTER TABLE memory ADD COLUMN token_count INTEGER;

-- Of a published document, for lists; its home is the evidence, too long to be read for every row.
ALTER TABLE mental_model ADD COLUMN document_tokens INTEGER;
UPDATE mental_model SET document_tokens = json_extract(reflect_response, '$.document_tokens');
