//! The rules: remember, recall, reflect, keep documents fresh, ask before changing them. Usable without any window.
