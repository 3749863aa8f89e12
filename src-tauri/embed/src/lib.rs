//! Turning text into vectors and ordering results, behind two traits. Never sees the database.
