//! Talking to language models behind one trait. Never sees the database.
