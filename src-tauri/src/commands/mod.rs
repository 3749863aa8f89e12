//! What the window can ask. One file per noun; a body says in one expression what answers.

pub mod window;
