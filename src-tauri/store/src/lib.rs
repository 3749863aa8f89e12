//! The SQLite file: schema, migrations, queries. One writer. Plain SQL. Knows nothing about language models.
